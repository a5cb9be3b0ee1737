import type { Client } from '@temporalio/client';
import { isLeftStanding, reportStuck, type StuckDeps } from '../../src/services/activities/workflows.ts';
import {
  ACTIVITY_RETENTION_WORKFLOW,
  AUDIT_RETENTION_WORKFLOW,
  RECONCILE_WORKFLOW,
} from '../../workflows/contracts/housekeeping.contract.ts';
import { PROFILE_TRIGGER_WORKFLOW } from '../../workflows/contracts/profile-trigger.contract.ts';
import { isOfType } from '../../workflows/contracts/workflow-types.ts';
import { failedForGood, readState } from './workflow-state.ts';

const SCHEDULED_LIMIT = 50;
const SCHEDULED = isOfType([
  PROFILE_TRIGGER_WORKFLOW,
  ACTIVITY_RETENTION_WORKFLOW,
  AUDIT_RETENTION_WORKFLOW,
  RECONCILE_WORKFLOW,
]);

/** They have no open row. Failed since `since`, or running and started before `startedBefore` (ms since the epoch). */
export async function reportStuckSchedules(
  { client, ...deps }: StuckDeps & { client: Client },
  { since, startedBefore }: { since: number; startedBefore: number },
): Promise<void> {
  const running = `${SCHEDULED} AND ExecutionStatus = 'Running' AND StartTime < '${new Date(startedBefore).toISOString()}'`;
  for await (const { workflowId } of newest(client, running))
    isLeftStanding(deps, workflowId, await readState(client, workflowId));
  const failed = `${SCHEDULED} AND ExecutionStatus = 'Failed' AND CloseTime >= '${new Date(since).toISOString()}'`;
  for await (const execution of newest(client, failed))
    if (await failedForGood(client, execution)) reportStuck(deps, execution.workflowId, 'failure');
}

async function* newest(client: Client, query: string): AsyncGenerator<{ workflowId: string; runId: string }> {
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: SCHEDULED_LIMIT })) {
    yield { workflowId, runId };
    count += 1;
    if (count === SCHEDULED_LIMIT) return;
  }
}
