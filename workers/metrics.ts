import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PROFILE_KINDS } from '../src/domain/schedules/profile-schedule.ts';
import { type Clock, systemClock } from '../src/services/common/ports.ts';
import { DISPATCHER_EVENTS, type DispatcherEvent } from './dispatcher/dispatcher.ts';
import { REPAIRS, type RepairMade, STUCK_REASONS, type StuckReason } from './dispatcher/repair.ts';

/** Metrics of a worker process. */
export interface WorkerMetrics {
  dispatcherEvent(what: DispatcherEvent): void;
  /** Records one Temporal activity, local or not. */
  activityEnded(name: string, isDone: boolean, seconds: number): void;
  /** Counts events that a batch processed. */
  eventsProcessed(events: number): void;
  batchClosed(): void;
  /** Counts a repaired row whose workflow was lost or stuck. */
  repaired(foundBy: RepairFinder, outcome: RepairMade): void;
  /** Counts a stuck workflow, each time it is found. */
  stuck(reason: StuckReason): void;
  /** Records a completed run of the reconciler. */
  reconciled(seconds: number): void;
  scheduleMissed(kind: string): void;
}

const REPAIR_FINDERS = ['relay', 'reconciler'] as const;
/** The dispatcher finds rows with pending events; the reconciler finds the others. */
export type RepairFinder = (typeof REPAIR_FINDERS)[number];

const STEP_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Registers the metrics; counters start at 0, so that a first increase is visible. */
export function createWorkerMetrics(registry: Registry, clock: Clock = systemClock): WorkerMetrics {
  const registers = [registry];
  const relay = new Counter({
    name: 'flotilla_relay_events_total',
    help: 'Actions of the outbox dispatcher, by kind',
    labelNames: ['kind'] as const,
    registers,
  });
  for (const kind of DISPATCHER_EVENTS) relay.inc({ kind }, 0);
  const steps = new Histogram({
    name: 'flotilla_step_duration_seconds',
    help: 'Duration of one Temporal activity in this process, by activity',
    labelNames: ['step', 'outcome'] as const,
    buckets: STEP_SECONDS,
    registers,
  });
  const processed = new Counter({
    name: 'flotilla_lane_events_total',
    help: 'Results of computers and cancel requests that batches processed',
    registers,
  });
  const closed = new Counter({
    name: 'flotilla_lanes_closed_total',
    help: 'Batches whose last operation ended',
    registers,
  });
  return {
    dispatcherEvent: (kind) => relay.inc({ kind }),
    activityEnded: (step, isDone, seconds) => steps.observe({ step, outcome: isDone ? 'done' : 'failed' }, seconds),
    eventsProcessed: (events) => processed.inc(events),
    batchClosed: () => closed.inc(),
    ...repairMetrics(registry),
    ...reconcilerMetrics(registry, clock),
  };
}

function repairMetrics(registry: Registry): Pick<WorkerMetrics, 'repaired' | 'stuck'> {
  const repairs = new Counter({
    name: 'flotilla_repairs_total',
    help: 'Repaired open rows whose workflow was lost, by finder and outcome',
    labelNames: ['found_by', 'outcome'] as const,
    registers: [registry],
  });
  for (const found_by of REPAIR_FINDERS) for (const outcome of REPAIRS) repairs.inc({ found_by, outcome }, 0);
  const stuck = new Counter({
    name: 'flotilla_workflows_stuck_total',
    help: 'Stuck workflows found, by reason; each counts again a minute later',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  for (const reason of STUCK_REASONS) stuck.inc({ reason }, 0);
  return {
    repaired: (found_by, outcome) => repairs.inc({ found_by, outcome }),
    stuck: (reason) => stuck.inc({ reason }),
  };
}

function reconcilerMetrics(registry: Registry, clock: Clock): Pick<WorkerMetrics, 'reconciled' | 'scheduleMissed'> {
  const registers = [registry];
  const missed = new Counter({
    name: 'flotilla_schedules_missed_total',
    help: 'Missed runs of profiles that were started later',
    labelNames: ['kind'] as const,
    registers,
  });
  for (const kind of PROFILE_KINDS) missed.inc({ kind }, 0);
  const lastRun = new Gauge({
    name: 'flotilla_reconciler_last_run_timestamp_seconds',
    help: 'When the reconciler last completed a run in this process; 0 for never',
    registers,
  });
  const lastSeconds = new Gauge({
    name: 'flotilla_reconciler_last_run_duration_seconds',
    help: 'Duration of that run',
    registers,
  });
  return {
    reconciled: (seconds) => {
      lastRun.set(clock.now().getTime() / 1000);
      lastSeconds.set(seconds);
    },
    scheduleMissed: (kind) => missed.inc({ kind }),
  };
}
