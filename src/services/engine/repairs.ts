import { activityWorkflowId, parseActivityWorkflowId } from '../../domain/activities/workflow-id.ts';
import { releaseFastAgents } from '../../persistence/agents/intervals.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { addCancel } from '../../persistence/engine/pending-events.sql.ts';
import {
  isGroupOpen,
  type OpenBatch,
  readBatchState,
  readClosedAmong,
  readIdleBatches,
  readOpenBatchesOf,
  readOpenBatchPage,
  readOpenBatchWorkflows,
  readOpenGroups,
} from '../../persistence/engine/repairs.sql.ts';
import { readStartableActivities, readStartableBatches } from '../../persistence/engine/startable.sql.ts';
import {
  isLeftStanding,
  type Repair,
  type RepairDeps,
  type RepairRun,
  TERMINATED_TEXT,
} from '../activities/workflows.ts';
import type { Engine } from './engine.ts';

const PAGE = 500;
/** A run must end well within its minute; the next one continues. */
const BUDGET_MS = 25_000;
const IDLE_LIMIT = 20;

type WithEngine<Deps> = Deps & { engine: Engine };
export type BatchRepairDeps = WithEngine<RepairDeps>;

/**
 * Restarts the workflow of an opened batch with open operations, or closes those when an operator terminated it.
 * Idempotent. A batch that was never started is left to its parent. @see docs/architecture.md#crashes-and-repairs
 */
export async function repairBatch(deps: BatchRepairDeps, batch: number): Promise<Repair> {
  const row = await readBatchState(deps.db, batch);
  if (!row || row.open_count === 0) return 'none';
  const state = await deps.workflows.state(row.wf_id);
  if (isLeftStanding(deps, row.wf_id, state)) return 'none';
  if (state === 'terminated') {
    await cancelBatch(deps, batch, TERMINATED_TEXT);
    deps.logger.warn({ workflowId: row.wf_id }, 'canceled the open operations of a terminated workflow');
    return 'closed';
  }
  if (row.opened_at === null && row.parent_id !== null && state === 'missing') return 'none';
  const [startable] = await readStartableBatches(deps.db, [batch]);
  if (!startable) return 'none';
  await deps.workflows.start(startable, 'allow');
  deps.logger.warn({ workflowId: row.wf_id, state }, 'restarted the workflow of a batch');
  return 'restarted';
}

/** As {@link repairBatch} for a group; closing a terminated group closes its batches. A closed group stays closed. */
export async function repairGroup(deps: BatchRepairDeps, activityId: number): Promise<Repair> {
  const [startable] = await readStartableActivities(deps.db, [activityId]);
  if (!startable) return 'none';
  const { workflowId } = startable;
  const state = await deps.workflows.state(workflowId);
  // Read after the workflow, which ends after its rows: so a group that has just ended is not taken for a lost one.
  if (!(await isGroupOpen(deps.db, activityId))) return 'none';
  if (isLeftStanding(deps, workflowId, state)) return 'none';
  if (state === 'terminated') {
    for (const { id, wf_id } of await readOpenBatchWorkflows(deps.db, activityId)) {
      // Cancel its workflow before its rows: nothing looks for the workflow of closed rows.
      await addCancel(deps.db, id, TERMINATED_TEXT);
      await deps.workflows.cancel(wf_id);
      await processAll(deps, id);
    }
    deps.logger.warn({ workflowId }, 'canceled the open operations of a terminated group');
    return 'closed';
  }
  await deps.workflows.start(startable, 'allow');
  deps.logger.warn({ workflowId, state }, 'restarted the workflow of a group');
  return 'restarted';
}

/** Cancels through the inbox, so that the cancel survives a crash. */
async function cancelBatch(deps: BatchRepairDeps, batch: number, text: string): Promise<void> {
  await addCancel(deps.db, batch, text);
  await processAll(deps, batch);
}

async function processAll({ engine }: BatchRepairDeps, batch: number): Promise<void> {
  for (;;) {
    const { open, nextDueAt } = await engine.processPendingEvents(batch, false);
    if (open === 0 || nextDueAt === null || nextDueAt > Date.now()) return;
  }
}

/** Repairs the open batches and groups of workflows that closed. Idempotent. */
export async function repairClosed(run: WithEngine<RepairRun>, workflowIds: readonly string[]): Promise<void> {
  const { db, count } = run;
  for (const { id, wf_id } of await readOpenBatchesOf(db, workflowIds)) count(wf_id, await repairBatch(run, id));
  const candidates = workflowIds.map(parseActivityWorkflowId).filter((id) => id !== null);
  for (const id of await readOpenGroups(db, candidates)) count(activityWorkflowId(id), await repairGroup(run, id));
}

/**
 * Repairs open batches and their groups that have no running workflow, for a limited time. Idempotent.
 * @returns the batch after which the next run continues; 0 when the pass is complete
 */
export async function repairOpenBatches(run: WithEngine<RepairRun>, start: number): Promise<number> {
  const until = Date.now() + BUDGET_MS;
  let after = start;
  while (Date.now() < until) {
    const page = await readOpenBatchPage(run.db, { after, ageMs: run.settleMs, limit: PAGE });
    await comparePage(run, page);
    if (page.length < PAGE) return 0;
    after = page.at(-1)!.id;
  }
  return after;
}

async function comparePage(run: WithEngine<RepairRun>, page: readonly OpenBatch[]): Promise<void> {
  const { workflows, count } = run;
  if (page.length === 0) return;
  const groups = new Map<string, number>();
  for (const { parent_id: id } of page) if (id !== null) groups.set(activityWorkflowId(id), id);
  const running = await workflows.runningAmong([...groups.keys(), ...page.map((batch) => batch.wf_id)]);
  for (const [workflowId, id] of groups) if (!running.has(workflowId)) count(workflowId, await repairGroup(run, id));
  for (const { id, wf_id } of page) if (!running.has(wf_id)) count(wf_id, await repairBatch(run, id));
}

/** Wakes batches without progress that have no task. Returns the batch to continue after, 0 at the end. */
export async function wakeIdleBatches(run: RepairRun, after: number): Promise<number> {
  const { db, workflows, settleMs } = run;
  const batches = await readIdleBatches(db, { after, idleMs: settleMs, limit: IDLE_LIMIT });
  for (const { wf_id: workflowId, opened, parent_id } of batches) {
    // Its group starts it.
    if (!opened && parent_id !== null && workflowId !== activityWorkflowId(parent_id)) continue;
    if ((await workflows.state(workflowId)) === 'running') await workflows.wakeUp(workflowId);
  }
  return batches.length < IDLE_LIMIT ? 0 : batches.at(-1)!.id;
}

/** Wakes those of some running workflows whose batch has ended and that have no task: their last result was lost. */
export async function wakeLeftRunning(run: RepairRun, workflowIds: readonly string[]): Promise<void> {
  const { db, workflows, logger, settleMs } = run;
  for (const workflowId of await readClosedAmong(db, workflowIds, settleMs)) {
    if ((await workflows.state(workflowId)) !== 'running') continue;
    if (await workflows.wakeUp(workflowId)) logger.warn({ workflowId }, 'woke a workflow whose batch has ended');
  }
}

/** Takes back the slots of computers that poll fast without work. Idempotent. @see docs/agent-protocol.md#intervals */
export async function endFastPolling(db: Sql, now: Date): Promise<void> {
  await releaseFastAgents(db, now);
}
