import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { readIdleBatches } from '../../src/persistence/engine/repairs.repository.ts';
import { readStartableActivities, readStartableBatches } from '../../src/persistence/engine/startable.repository.ts';
import { activityWorkflowId } from '../../workflows/contracts/activity.contract.ts';
import { nudge } from '../relay/nudge.ts';
import type { Repair, RepairDeps } from '../relay/repair.ts';

/** Looked at in one run; the next one goes on with what is left. */
const MOST_LOOKS = 20;
/** A task that a worker lost is tried again once or twice; one that fails every time is tried for ever. */
const HOPELESS_ATTEMPT = 3;

/**
 * Moves lanes that stand still. Workflows that run and cannot move are started anew: their input cannot be read, or the
 * code does not fit their history. The others are nudged: one lost its wake-up with the answer of its last step, when a
 * worker stood still or the server lost its last moments. The rows hold all there is to know.
 *
 * @param after - the lane to go on after
 * @param count - told of each workflow that was started anew
 * @returns the lane to go on after in the next run; 0 when the round is complete
 * @see docs/reliability.md#a-worker-or-a-workflow-stands-still
 */
export async function repairStuck(
  deps: RepairDeps,
  { settleMs, after, count }: { settleMs: number; after: number; count: (repair: Repair) => void },
): Promise<number> {
  const lanes = await readIdleBatches(deps.db, { after, idleMs: settleMs, limit: MOST_LOOKS });
  const groups = new Set(lanes.flatMap(({ parent_id: parent }) => (parent === null ? [] : [parent])));
  for (const id of groups) {
    if ((await lookAt(deps.client, activityWorkflowId(id))) !== 'hopeless') continue;
    const [group] = await readStartableActivities(deps.db, [id]);
    if (group) count(await startAnew(deps, group));
  }
  for (const { id, wf_id, opened, parent_id } of lanes) {
    if (!opened && parent_id !== null) continue;
    const state = await lookAt(deps.client, wf_id);
    if (state === 'waiting') await nudge(deps.client, wf_id);
    if (state !== 'hopeless') continue;
    const [lane] = await readStartableBatches(deps.db, [id]);
    if (lane) count(await startAnew(deps, lane));
  }
  return lanes.length < MOST_LOOKS ? 0 : lanes.at(-1)!.id;
}

async function startAnew(deps: RepairDeps, row: Parameters<RepairDeps['starter']['start']>[0]): Promise<Repair> {
  await deps.starter.start(row, 'instead');
  deps.logger.error({ workflowId: row.workflowId }, 'workflow could not go on: started anew');
  return 'restarted';
}

/** `gone`: it does not run, which others look after. `busy`: it has a task already. */
async function lookAt(client: Client, workflowId: string): Promise<'gone' | 'hopeless' | 'busy' | 'waiting'> {
  try {
    const { raw, status } = await client.workflow.getHandle(workflowId).describe();
    if (status.name !== 'RUNNING') return 'gone';
    if (!raw.pendingWorkflowTask) return 'waiting';
    return (raw.pendingWorkflowTask.attempt ?? 0) >= HOPELESS_ATTEMPT ? 'hopeless' : 'busy';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}
