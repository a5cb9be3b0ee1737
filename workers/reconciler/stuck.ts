import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { readIdleBatches } from '../../src/persistence/engine/repairs.repository.ts';
import { activityWorkflowId } from '../../workflows/contracts/activity.contract.ts';
import { sendWakeUp } from '../dispatcher/wake-up.ts';
import { type RepairDeps, reportStuck } from '../dispatcher/repair.ts';

/** Looked at in one run; the next one goes on with what is left. */
const MOST_LOOKS = 20;
/** A task that a worker lost is tried again once or twice; one that fails every time is tried for ever. */
const STUCK_ATTEMPT = 3;

/**
 * Looks at lanes that stand still. A workflow whose tasks fail, because its input cannot be read or the code does not fit
 * its history, is reported and left as it is: a fixed build goes on with it, or an operator decides. The others are
 * nudged: one lost its wake-up with the answer of its last step, when a worker stood still or the server lost its last
 * moments.
 * @param after - the lane to go on after
 * @returns the lane to go on after in the next run; 0 when the round is complete
 * @see docs/reliability.md#a-worker-or-a-workflow-stands-still
 */
export async function wakeIdleBatches(
  deps: RepairDeps,
  { settleMs, after }: { settleMs: number; after: number },
): Promise<number> {
  const lanes = await readIdleBatches(deps.db, { after, idleMs: settleMs, limit: MOST_LOOKS });
  const groups = new Set(lanes.flatMap(({ parent_id: parent }) => (parent === null ? [] : [parent])));
  for (const id of groups) {
    const workflowId = activityWorkflowId(id);
    if ((await lookAt(deps.client, workflowId)) === 'stuck') reportStuck(deps, workflowId, 'task');
  }
  for (const { wf_id: workflowId, opened, parent_id } of lanes) {
    if (!opened && parent_id !== null) continue;
    const state = await lookAt(deps.client, workflowId);
    if (state === 'waiting') await sendWakeUp(deps.client, workflowId);
    if (state === 'stuck') reportStuck(deps, workflowId, 'task');
  }
  return lanes.length < MOST_LOOKS ? 0 : lanes.at(-1)!.id;
}

/** `gone`: it does not run, which others look after. `busy`: it has a task already. */
async function lookAt(client: Client, workflowId: string): Promise<'gone' | 'stuck' | 'busy' | 'waiting'> {
  try {
    const { raw, status } = await client.workflow.getHandle(workflowId).describe();
    if (status.name !== 'RUNNING') return 'gone';
    if (!raw.pendingWorkflowTask) return 'waiting';
    return (raw.pendingWorkflowTask.attempt ?? 0) >= STUCK_ATTEMPT ? 'stuck' : 'busy';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}
