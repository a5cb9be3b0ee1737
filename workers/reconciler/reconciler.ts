import { activityWorkflowId, parseActivityWorkflowId } from '../../src/domain/activities/workflow-id.ts';
import { DAY_MS, MINUTE_MS } from '../../src/domain/common/durations.ts';
import { advanceMark } from '../../src/persistence/activities/restore.sql.ts';
import { releaseFastAgents } from '../../src/persistence/agents/intervals.sql.ts';
import {
  type OpenBatch,
  readOpenBatchesOf,
  readOpenBatchPage,
  readOpenGroups,
} from '../../src/persistence/engine/repairs.sql.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import type { ReconcileActivities, ReleasedActivities } from '../../workflows/contracts/activities.ts';
import type { ReconcileCursor, ReconcileResult } from '../../workflows/contracts/housekeeping.contract.ts';
import { type Repair, type RepairDeps, type RepairMade, repairBatch, repairGroup } from '../dispatcher/repair.ts';
import { createStarter } from '../dispatcher/starter.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { repairAfterRestore } from '../restore/repair-after-restore.ts';
import { purgeExpiredEventLog } from './event-retention.ts';
import { wakeLeftRunning } from './left-running.ts';
import { repairReports } from './lost-reports.ts';
import { compareSchedules, requestEveryScheduleUpdate, startMissedRuns } from './missed-runs.ts';
import { reportStuckSchedules, wakeIdleBatches } from './stuck.ts';
import { closedAbnormally, deleteOldRuns, runningAmong } from './visibility.ts';

export interface ReconcilerOptions extends Omit<RepairDeps, 'starter'> {
  publicUrl: string;
  eventRetentionDays: number;
  clock: { now(): Date };
  kinds: ProfileKinds;
  /** Younger batches are skipped: the dispatcher may be about to start them. Default 60,000. */
  settleMs?: number;
  metrics?: Pick<WorkerMetrics, 'repaired' | 'reconciled' | 'scheduleMissed'>;
}

const PAGE = 500;
/** A run must end well within its minute; the next one continues. */
const BUDGET_MS = 25_000;
const SETTLE_MS = 60_000;
/** How far visibility may lag behind. */
const LAG_MS = 2 * MINUTE_MS;
const COMPARE_EVERY_MINUTES = 10;
/** A gap of this length is more than one failed run. */
const SERVER_BEHIND_MS = 5 * MINUTE_MS;
const FIRST_LOOKBACK_MS = DAY_MS;
const NAMED_LIMIT = 25;

/** Creates the activity that reconciles rows, workflows and schedules. @see docs/architecture.md#the-reconciler */
export function createReconciler(
  options: ReconcilerOptions,
): ReconcileActivities & Pick<ReleasedActivities, 'reconcile'> {
  /** The cursor's mark for which schedule updates were requested: once, however many runs fail after that. */
  let requestedFor: number | null = null;
  const deps: RepairDeps = { ...options, starter: createStarter(options.client, options.publicUrl) };
  const activities: ReconcileActivities = {
    async reconcileWorkflows({ cursor }) {
      const startedAt = options.clock.now().getTime();
      const repairs = countRepairs((made) => options.metrics?.repaired('reconciler', made));
      // First: nothing may be restarted that ran in the period the database has lost.
      const known = cursor?.mark ?? 0;
      const mark = await advanceMark(options.db, known, startedAt);
      if (mark === null) {
        await repairAfterRestore(options, options.clock.now(), Math.max(startedAt, known));
      } else if (cursor !== null && mark - known > SERVER_BEHIND_MS && requestedFor !== known) {
        // The server's data are older, or it was down: its schedules may be older than their profiles.
        await requestEveryScheduleUpdate(options, options.clock.now());
        requestedFor = known;
      }
      const closedSince = cursor?.closedSince ?? startedAt - FIRST_LOOKBACK_MS;
      await repairClosed(deps, closedSince, repairs);
      const batchAfter = await comparePages(deps, options, cursor?.batchAfter ?? 0, repairs);
      const settleMs = options.settleMs ?? SETTLE_MS;
      const idleAfter = await wakeIdleBatches(deps, { settleMs, after: cursor?.idleAfter ?? 0 });
      const runningBefore = await wakeLeftRunning(options, settleMs, cursor?.runningBefore);
      await reportStuckSchedules(deps, { since: closedSince, startedBefore: startedAt - settleMs });
      await repairReports(deps, { settleMs, now: options.clock.now(), count: repairs.add });
      await startMissedRuns(options, options.clock.now(), options.metrics?.scheduleMissed);
      const wasInterrupted = cursor !== null && startedAt - known > LAG_MS;
      if (wasInterrupted || Math.floor(startedAt / MINUTE_MS) % COMPARE_EVERY_MINUTES === 0)
        await compareSchedules(options, options.clock.now());
      await releaseFastAgents(options.db, options.clock.now());
      await deleteOldRuns(options.client, startedAt);
      await purgeExpiredEventLog(options.db, options.logger, options.eventRetentionDays);
      options.metrics?.reconciled((options.clock.now().getTime() - startedAt) / 1000);
      const next = { closedSince: startedAt - LAG_MS, batchAfter, mark: startedAt, idleAfter, runningBefore };
      return { cursor: next, ...repairs.made };
    },
  };
  return { ...activities, reconcile: (cursor) => activities.reconcileWorkflows({ cursor }) };
}

/** Reports each repair when it is made: if the run fails later, no other run finds it. */
function countRepairs(onRepair: (outcome: RepairMade) => void) {
  const made: Required<Omit<ReconcileResult, 'cursor'>> = { restarted: 0, closed: 0, repaired: [] };
  const add = (workflowId: string, outcome: Repair): void => {
    if (outcome === 'none') return;
    made[outcome] += 1;
    if (made.repaired.length < NAMED_LIMIT) made.repaired.push({ workflowId, outcome });
    onRepair(outcome);
  };
  return { made, add };
}

type RepairCount = ReturnType<typeof countRepairs>;

async function repairClosed(deps: RepairDeps, since: number, repairs: RepairCount): Promise<void> {
  for await (const ids of closedAbnormally(deps.client, since)) {
    for (const { id, wf_id } of await readOpenBatchesOf(deps.db, ids)) repairs.add(wf_id, await repairBatch(deps, id));
    const candidates = ids.map(parseActivityWorkflowId).filter((id) => id !== null);
    for (const id of await readOpenGroups(deps.db, candidates))
      repairs.add(activityWorkflowId(id), await repairGroup(deps, id));
  }
}

/** @returns the batch after which the next run continues; 0 when the pass is complete */
async function comparePages(
  deps: RepairDeps,
  options: ReconcilerOptions,
  start: ReconcileCursor['batchAfter'],
  repairs: RepairCount,
): Promise<number> {
  const until = Date.now() + BUDGET_MS;
  let after = start;
  while (Date.now() < until) {
    const page = await readOpenBatchPage(deps.db, { after, ageMs: options.settleMs ?? SETTLE_MS, limit: PAGE });
    await comparePage(deps, page, repairs);
    if (page.length < PAGE) return 0;
    after = page.at(-1)!.id;
  }
  return after;
}

async function comparePage(deps: RepairDeps, page: readonly OpenBatch[], repairs: RepairCount): Promise<void> {
  if (page.length === 0) return;
  const groups = new Map<string, number>();
  for (const { parent_id: id } of page) if (id !== null) groups.set(activityWorkflowId(id), id);
  const running = await runningAmong(deps.client, [...groups.keys(), ...page.map((batch) => batch.wf_id)]);
  for (const [workflowId, id] of groups)
    if (!running.has(workflowId)) repairs.add(workflowId, await repairGroup(deps, id));
  for (const { id, wf_id } of page) if (!running.has(wf_id)) repairs.add(wf_id, await repairBatch(deps, id));
}
