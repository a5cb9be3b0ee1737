import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { readIdleBatches } from '../../src/persistence/engine/repairs.repository.ts';
import { activityWorkflowId } from '../../workflows/contracts/group.contract.ts';
import { sendWakeUp } from '../dispatcher/wake-up.ts';
import { type RepairDeps, reportStuck } from '../dispatcher/repair.ts';

/** Batches checked per run; the next run continues. */
const MOST_LOOKS = 20;
/** A task lost by a worker is retried once or twice; a failing one is retried forever. */
const STUCK_ATTEMPT = 3;

/**
 * Checks idle batches. A workflow whose tasks fail, because its input is unreadable or the code does not match its
 * history, is reported and left for a fixed build or an operator. The others are woken: a wake-up may have been lost
 * with the result of the last activity, or with the server's last moments.
 * @param after - the batch to continue after
 * @returns the batch after which the next run continues; 0 when the pass is complete
 * @see docs/reliability.md#a-worker-or-a-workflow-stands-still
 */
export async function wakeIdleBatches(
  deps: RepairDeps,
  { settleMs, after }: { settleMs: number; after: number },
): Promise<number> {
  const batches = await readIdleBatches(deps.db, { after, idleMs: settleMs, limit: MOST_LOOKS });
  const groups = new Set(batches.flatMap(({ parent_id: parent }) => (parent === null ? [] : [parent])));
  for (const id of groups) {
    const workflowId = activityWorkflowId(id);
    if ((await lookAt(deps.client, workflowId)) === 'stuck') reportStuck(deps, workflowId, 'task');
  }
  for (const { wf_id: workflowId, opened, parent_id } of batches) {
    if (!opened && parent_id !== null) continue;
    const state = await lookAt(deps.client, workflowId);
    if (state === 'waiting') await sendWakeUp(deps.client, workflowId);
    if (state === 'stuck') reportStuck(deps, workflowId, 'task');
  }
  return batches.length < MOST_LOOKS ? 0 : batches.at(-1)!.id;
}

/** `gone`: not running, which is handled elsewhere. `busy`: it already has a task. */
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
