import type { Client } from '@temporalio/client';
import { reportStuck, type StuckDeps } from '../../src/services/activities/workflows.ts';
import { SYSTEM_WORKFLOWS } from '../../temporal/schedules/schedules.ts';
import { PROFILE_TRIGGER_WORKFLOW } from '../../workflows/contracts/profile-trigger.contract.ts';
import { isOfType } from '../../workflows/contracts/workflow-types.ts';
import { failedForGood, readState } from './workflow-state.ts';

const LIMIT = 50;
const FAILING = `ExecutionStatus = 'Running' AND TemporalReportedProblems IS NOT NULL`;
const FAILED = `ExecutionStatus = 'Failed' AND ${isOfType([PROFILE_TRIGGER_WORKFLOW, ...SYSTEM_WORKFLOWS])}`;

/**
 * Reports workflows of any type whose tasks keep failing, and those of schedules that failed since `since` (ms since the
 * epoch): the others have open rows, which lead to them.
 */
export async function reportStuckWorkflows({ client, ...deps }: StuckDeps & { client: Client }, since: number) {
  for await (const { workflowId } of newest(client, FAILING))
    if (['stuck', 'busy'].includes(await readState(client, workflowId))) reportStuck(deps, workflowId, 'task');
  const failed = `${FAILED} AND CloseTime >= '${new Date(since).toISOString()}'`;
  for await (const execution of newest(client, failed))
    if (await failedForGood(client, execution)) reportStuck(deps, execution.workflowId, 'failure');
}

async function* newest(client: Client, query: string): AsyncGenerator<{ workflowId: string; runId: string }> {
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: LIMIT })) {
    yield { workflowId, runId };
    count += 1;
    if (count === LIMIT) return;
  }
}
