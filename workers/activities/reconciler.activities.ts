import { DAY_MS, MINUTE_MS } from '../../src/domain/common/durations.ts';
import type { Repair, RepairMade } from '../../src/services/activities/workflows.ts';
import type { Clock } from '../../src/services/common/ports.ts';
import { repairReports } from '../../src/services/compliance/reports/lost-reports.ts';
import {
  type BatchRepairDeps,
  endFastPolling,
  repairClosed,
  repairOpenBatches,
  wakeIdleBatches,
  wakeLeftRunning,
} from '../../src/services/engine/repairs.ts';
import { repairIfRestored } from '../../src/services/engine/restore.ts';
import { type EventRetention, purgeExpiredEventLog } from '../../src/services/events/purge-expired-events.ts';
import {
  compareSchedules,
  requestEveryScheduleUpdate,
  startMissedRuns,
} from '../../src/services/schedules/missed-runs.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import type { ReconcileActivities, ReleasedActivities } from '../../workflows/contracts/activities.ts';
import type { ReconcileResult } from '../../workflows/contracts/housekeeping.contract.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';
import { createProfileSchedules, createWorkflows, type WorkflowsOptions } from '../reconciler/ports.ts';
import { reportStuckWorkflows } from '../reconciler/stuck-workflows.ts';
import { closedAbnormally, deleteOldRuns, runningBatches } from '../reconciler/visibility.ts';

export interface ReconcilerOptions extends Omit<BatchRepairDeps, 'workflows'>, WorkflowsOptions, EventRetention {
  clock: Clock;
  kinds: ProfileKinds;
  /** Younger batches are skipped: the dispatcher may be about to start them. Default 60,000. */
  settleMs?: number;
  metrics?: Pick<WorkerMetrics, 'repaired' | 'reconciled' | 'scheduleMissed'>;
}

const SETTLE_MS = 60_000;
/** How far visibility may lag behind. */
const LAG_MS = 2 * MINUTE_MS;
/** Of what no minute depends on. */
const RARE_EVERY_MINUTES = 10;
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
  const { client, clock } = options;
  const deps = {
    ...options,
    settleMs: options.settleMs ?? SETTLE_MS,
    workflows: createWorkflows(options),
    schedules: createProfileSchedules(client),
  };
  const activities: ReconcileActivities = {
    async reconcileWorkflows({ cursor }) {
      const startedAt = clock.now().getTime();
      const repairs = countRepairs((made) => options.metrics?.repaired('reconciler', made));
      const run = { ...deps, count: repairs.add };
      // First: nothing may be restarted that ran in the period the database has lost.
      const known = cursor?.mark ?? 0;
      const behindMs = await repairIfRestored(deps, known, startedAt);
      if (cursor !== null && behindMs > SERVER_BEHIND_MS && requestedFor !== known) {
        // The server's data are older, or it was down: its schedules may be older than their profiles.
        await requestEveryScheduleUpdate(deps, clock.now());
        requestedFor = known;
      }
      const closedSince = cursor?.closedSince ?? startedAt - FIRST_LOOKBACK_MS;
      for await (const ids of closedAbnormally(client, closedSince)) await repairClosed(run, ids);
      const batchAfter = await repairOpenBatches(run, cursor?.batchAfter ?? 0);
      const idleAfter = await wakeIdleBatches(run, cursor?.idleAfter ?? 0);
      const { ids: running, next: runningBefore } = await runningBatches(client, cursor?.runningBefore);
      await wakeLeftRunning(run, running);
      await reportStuckWorkflows(deps, closedSince);
      await repairReports(run, clock.now());
      await startMissedRuns(deps, clock.now(), options.metrics?.scheduleMissed);
      const wasInterrupted = cursor !== null && startedAt - known > LAG_MS;
      const isRare = Math.floor(startedAt / MINUTE_MS) % RARE_EVERY_MINUTES === 0;
      if (wasInterrupted || isRare) await compareSchedules(deps, clock.now());
      await endFastPolling(options.db, clock.now());
      if (isRare) await deleteOldRuns(client, startedAt);
      await purgeExpiredEventLog(options.db, options.logger, options);
      options.metrics?.reconciled((clock.now().getTime() - startedAt) / 1000);
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
