import type { Client } from '@temporalio/client';
import { activityWorkflowId } from '../../src/domain/activities/workflow-id.ts';
import { readIdleBatches } from '../../src/persistence/engine/repairs.sql.ts';
import {
  ACTIVITY_RETENTION_WORKFLOW,
  AUDIT_RETENTION_WORKFLOW,
  RECONCILE_WORKFLOW,
} from '../../workflows/contracts/housekeeping.contract.ts';
import { PROFILE_TRIGGER_WORKFLOW } from '../../workflows/contracts/profile-trigger.contract.ts';
import { isOfType } from '../../workflows/contracts/workflow-types.ts';
import { isLeftStanding, type RepairDeps, readState, reportStuck } from '../dispatcher/repair.ts';
import { failedForGood } from '../restore/close-events.ts';
import { sendWakeUp } from '../workflow-calls.ts';

const BATCHES_LIMIT = 20;
const SCHEDULED_LIMIT = 50;
const SCHEDULED = isOfType([
  PROFILE_TRIGGER_WORKFLOW,
  ACTIVITY_RETENTION_WORKFLOW,
  AUDIT_RETENTION_WORKFLOW,
  RECONCILE_WORKFLOW,
]);

/**
 * Wakes them, or reports those whose tasks fail. Returns the batch to continue after, 0 at the end.
 * @see docs/reliability.md#a-worker-or-a-workflow-stands-still
 */
export async function wakeIdleBatches(
  deps: RepairDeps,
  { settleMs, after }: { settleMs: number; after: number },
): Promise<number> {
  const { client, db } = deps;
  const batches = await readIdleBatches(db, { after, idleMs: settleMs, limit: BATCHES_LIMIT });
  const own = new Set(batches.map(({ wf_id }) => wf_id));
  const groups = new Set(batches.flatMap(({ parent_id: id }) => (id === null ? [] : [activityWorkflowId(id)])));
  for (const workflowId of groups)
    if (!own.has(workflowId) && (await readState(client, workflowId)) === 'stuck')
      reportStuck(deps, workflowId, 'task');
  for (const { wf_id: workflowId, opened, parent_id } of batches) {
    if (!opened && parent_id !== null && !groups.has(workflowId)) continue;
    const state = await readState(client, workflowId);
    if (state === 'running') await sendWakeUp(client, workflowId);
    if (state === 'stuck') reportStuck(deps, workflowId, 'task');
  }
  return batches.length < BATCHES_LIMIT ? 0 : batches.at(-1)!.id;
}

/** They have no open row. Failed since `since`, or running and started before `startedBefore` (ms since the epoch). */
export async function reportStuckSchedules(
  deps: RepairDeps,
  { since, startedBefore }: { since: number; startedBefore: number },
): Promise<void> {
  const running = `${SCHEDULED} AND ExecutionStatus = 'Running' AND StartTime < '${new Date(startedBefore).toISOString()}'`;
  for await (const { workflowId } of newest(deps.client, running))
    isLeftStanding(deps, workflowId, await readState(deps.client, workflowId));
  const failed = `${SCHEDULED} AND ExecutionStatus = 'Failed' AND CloseTime >= '${new Date(since).toISOString()}'`;
  for await (const execution of newest(deps.client, failed))
    if (await failedForGood(deps.client, execution)) reportStuck(deps, execution.workflowId, 'failure');
}

async function* newest(client: Client, query: string): AsyncGenerator<{ workflowId: string; runId: string }> {
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: SCHEDULED_LIMIT })) {
    yield { workflowId, runId };
    count += 1;
    if (count === SCHEDULED_LIMIT) return;
  }
}
