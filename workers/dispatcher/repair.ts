import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../src/persistence/database/sql.ts';
import { addCancel } from '../../src/persistence/engine/pending-events.sql.ts';
import { isGroupOpen, readBatchState, readOpenBatchWorkflows } from '../../src/persistence/engine/repairs.sql.ts';
import { readStartableActivities, readStartableBatches } from '../../src/persistence/engine/startable.sql.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import { failedForGood, isOrphaned } from '../restore/close-events.ts';
import { ignoreNotFound } from '../workflow-calls.ts';
import type { Starter } from './starter.ts';

/**
 * `orphaned`: ended by a repair after a restore, so it belonged to other rows. `failed`: by a defect or a missing row, in
 * this build. `stuck`: its tasks fail. `busy`: it has a task.
 */
export type WorkflowState = 'running' | 'busy' | 'stuck' | 'terminated' | 'closed' | 'failed' | 'missing' | 'orphaned';

export const REPAIRS = ['restarted', 'closed'] as const;
export type RepairMade = (typeof REPAIRS)[number];
export type Repair = 'none' | RepairMade;

export const STUCK_REASONS = ['task', 'failure'] as const;
export type StuckReason = (typeof STUCK_REASONS)[number];

export interface RepairDeps {
  db: Database;
  client: Client;
  engine: Engine;
  starter: Starter;
  logger: Logger;
  /** The build of this process; absent for an unversioned worker. */
  buildId?: string;
  stuck?: (reason: StuckReason) => void;
}

/** Reports a workflow that needs a fixed build or an operator. */
export function reportStuck({ logger, stuck }: RepairDeps, workflowId: string, reason: StuckReason): void {
  stuck?.(reason);
  logger.error({ workflowId, reason }, 'workflow is stuck: it needs a fixed build or an operator');
}

/** A task lost by a worker is retried once or twice, a failing one forever. */
const STUCK_ATTEMPT = 3;

/** Reports a workflow that is stuck. @returns whether it runs or is stuck, so that nothing may replace it */
export function isLeftStanding(deps: RepairDeps, workflowId: string, state: WorkflowState): boolean {
  if (state === 'stuck') reportStuck(deps, workflowId, 'task');
  if (state === 'failed') reportStuck(deps, workflowId, 'failure');
  return state === 'running' || state === 'busy' || state === 'stuck' || state === 'failed';
}

/** Result text of operations whose workflow an operator terminated. */
export const TERMINATED_TEXT = 'The workflow was terminated by an operator.';

/** Reads the latest run of a workflow id. */
export async function readState(client: Client, workflowId: string, buildId?: string): Promise<WorkflowState> {
  try {
    const { status, runId, raw } = await client.workflow.getHandle(workflowId).describe();
    if (status.name === 'RUNNING' || status.name === 'PAUSED') {
      if (!raw.pendingWorkflowTask) return 'running';
      return (raw.pendingWorkflowTask.attempt ?? 0) >= STUCK_ATTEMPT ? 'stuck' : 'busy';
    }
    if (status.name === 'FAILED') {
      const { deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
      const isSameBuild = (deploymentVersion?.buildId || undefined) === buildId;
      return isSameBuild && (await failedForGood(client, { workflowId, runId })) ? 'failed' : 'closed';
    }
    if (status.name !== 'TERMINATED') return 'closed';
    return (await isOrphaned(client, { workflowId, runId })) ? 'orphaned' : 'terminated';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}

/**
 * Restarts the workflow of an opened batch with open operations, or closes those when an operator terminated it.
 * Idempotent. A batch that was never started is left to its parent. @see docs/architecture.md#crashes-and-repairs
 */
export async function repairBatch(deps: RepairDeps, batch: number): Promise<Repair> {
  const row = await readBatchState(deps.db, batch);
  if (!row || row.open_count === 0) return 'none';
  const state = await readState(deps.client, row.wf_id, deps.buildId);
  if (isLeftStanding(deps, row.wf_id, state)) return 'none';
  if (state === 'terminated') {
    await cancelBatch(deps, batch, TERMINATED_TEXT);
    deps.logger.warn({ workflowId: row.wf_id }, 'canceled the open operations of a terminated workflow');
    return 'closed';
  }
  if (!row.opened && row.parent_id !== null && state === 'missing') return 'none';
  const [startable] = await readStartableBatches(deps.db, [batch]);
  if (!startable) return 'none';
  await deps.starter.start(startable, 'allow');
  deps.logger.warn({ workflowId: row.wf_id, state }, 'restarted the workflow of a batch');
  return 'restarted';
}

/** As {@link repairBatch} for a group; closing a terminated group closes its batches. A closed group stays closed. */
export async function repairGroup(deps: RepairDeps, activityId: number): Promise<Repair> {
  const [startable] = await readStartableActivities(deps.db, [activityId]);
  if (!startable) return 'none';
  const { workflowId } = startable;
  const state = await readState(deps.client, workflowId, deps.buildId);
  // Read after the workflow, which ends after its rows: so a group that has just ended is not taken for a lost one.
  if (!(await isGroupOpen(deps.db, activityId))) return 'none';
  if (isLeftStanding(deps, workflowId, state)) return 'none';
  if (state === 'terminated') {
    for (const { id, wf_id } of await readOpenBatchWorkflows(deps.db, activityId)) {
      // Cancel its workflow before its rows: nothing looks for the workflow of closed rows.
      await addCancel(deps.db, id, TERMINATED_TEXT);
      await ignoreNotFound(deps.client.workflow.getHandle(wf_id).cancel());
      await processAll(deps, id);
    }
    deps.logger.warn({ workflowId }, 'canceled the open operations of a terminated group');
    return 'closed';
  }
  await deps.starter.start(startable, 'allow');
  deps.logger.warn({ workflowId, state }, 'restarted the workflow of a group');
  return 'restarted';
}

/** Cancels through the inbox, so that the cancel survives a crash. */
async function cancelBatch(deps: RepairDeps, batch: number, text: string): Promise<void> {
  await addCancel(deps.db, batch, text);
  await processAll(deps, batch);
}

async function processAll({ engine }: RepairDeps, batch: number): Promise<void> {
  for (;;) {
    const { open, nextDueAt } = await engine.processPendingEvents(batch, false);
    if (open === 0 || nextDueAt === null || nextDueAt > Date.now()) return;
  }
}
