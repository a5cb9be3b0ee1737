import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../src/persistence/database/sql.ts';
import { addCancel } from '../../src/persistence/engine/pending-events.repository.ts';
import {
  isGroupOpen,
  readBatchState,
  readOpenBatchWorkflows,
} from '../../src/persistence/engine/repairs.repository.ts';
import { readStartableActivities, readStartableBatches } from '../../src/persistence/engine/startable.repository.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import { reached } from '../reached.ts';
import { isOrphaned } from '../restore/orphaned.ts';
import type { Starter } from './starter.ts';

/** How a workflow stands on the server; `orphaned` is one that a repair after a restore ended, of other rows than there are now. */
export type WorkflowState = 'running' | 'terminated' | 'closed' | 'missing' | 'orphaned';

/** What became of a row whose workflow was lost or stuck. */
export const REPAIRS = ['restarted', 'closed'] as const;
export type RepairMade = (typeof REPAIRS)[number];
export type Repair = 'none' | RepairMade;

export interface RepairDeps {
  db: Database;
  client: Client;
  engine: Engine;
  starter: Starter;
  logger: Logger;
}

/** Result of what an operator ended. */
export const TERMINATED_TEXT = 'The workflow was terminated by an operator.';

/** Reads the newest run of a workflow id. */
export async function readState(client: Client, workflowId: string): Promise<WorkflowState> {
  try {
    const { status, runId } = await client.workflow.getHandle(workflowId).describe();
    if (status.name === 'RUNNING' || status.name === 'PAUSED') return 'running';
    if (status.name !== 'TERMINATED') return 'closed';
    return (await isOrphaned(client, { workflowId, runId })) ? 'orphaned' : 'terminated';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}

/**
 * Gives an opened lane with open operations a workflow again, or closes its operations when an operator terminated it.
 *
 * @remarks Safe to repeat and to run twice at once. A lane that was never started is left to its parent, which cannot
 * start one whose id an orphan had.
 * @see docs/architecture.md#crashes-and-repairs
 */
export async function repairLane(deps: RepairDeps, lane: number): Promise<Repair> {
  const row = await readBatchState(deps.db, lane);
  if (!row || row.open_count === 0) return 'none';
  const state = await readState(deps.client, row.wf_id);
  if (state === 'running') return 'none';
  if (state === 'terminated') {
    await closeLane(deps, lane, TERMINATED_TEXT);
    deps.logger.warn({ workflowId: row.wf_id }, 'workflow was terminated: its open operations are cancelled');
    return 'closed';
  }
  if (!row.opened && row.parent_id !== null && state === 'missing') return 'none';
  const [startable] = await readStartableBatches(deps.db, [lane]);
  if (!startable) return 'none';
  await deps.starter.start(startable, 'again');
  deps.logger.warn({ workflowId: row.wf_id, state }, 'open operations had no workflow: started again');
  return 'restarted';
}

/** As {@link repairLane} for a group; the lanes of a terminated one are closed with it. One that has ended stays so. */
export async function repairGroup(deps: RepairDeps, activityId: number): Promise<Repair> {
  const [startable] = await readStartableActivities(deps.db, [activityId]);
  if (!startable) return 'none';
  const { workflowId } = startable;
  const state = await readState(deps.client, workflowId);
  if (state === 'running') return 'none';
  // Read after the workflow, which ends after its rows: a group that ended a moment ago is not taken for a lost one.
  if (!(await isGroupOpen(deps.db, activityId))) return 'none';
  if (state === 'terminated') {
    for (const { id, wf_id } of await readOpenBatchWorkflows(deps.db, activityId)) {
      // Its workflow before its rows: nobody would look for one whose rows have ended.
      await addCancel(deps.db, id, TERMINATED_TEXT);
      await reached(deps.client.workflow.getHandle(wf_id).cancel());
      await settleLane(deps, id);
    }
    deps.logger.warn({ workflowId }, 'workflow was terminated: the open operations of its group are cancelled');
    return 'closed';
  }
  await deps.starter.start(startable, 'again');
  deps.logger.warn({ workflowId, state }, 'an open group had no workflow: started again');
  return 'restarted';
}

/** The cancel goes through the inbox, so that a crash in between leaves it there to be found. */
async function closeLane(deps: RepairDeps, lane: number, text: string): Promise<void> {
  await addCancel(deps.db, lane, text);
  await settleLane(deps, lane);
}

async function settleLane({ engine }: RepairDeps, lane: number): Promise<void> {
  for (;;) {
    const { open, nextDueAt } = await engine.processPendingEvents(lane, false);
    if (open === 0 || nextDueAt === null || nextDueAt > Date.now()) return;
  }
}
