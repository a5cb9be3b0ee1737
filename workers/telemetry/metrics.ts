import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PROFILE_KINDS } from '../../src/domain/schedules/profile-schedule.ts';
import { REPAIRS, type RepairMade, STUCK_REASONS, type StuckReason } from '../../src/services/activities/workflows.ts';
import { type Clock, systemClock } from '../../src/services/common/ports.ts';
import { DISPATCHER_EVENTS, type DispatcherEvent } from '../dispatcher/dispatcher.ts';

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

const REPAIR_FINDERS = ['relay', 'reconciler'] as const;
/** The dispatcher finds rows with pending events; the reconciler finds the others. */
type RepairFinder = (typeof REPAIR_FINDERS)[number];

const STEP_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Registers the metrics of a worker process; counters start at 0, so that a first increase is visible. */
export function createWorkerMetrics(registry: Registry, clock: Clock = systemClock) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labels: ReadonlyArray<Record<L, string>> = []) => {
    const made = new Counter<L>({ name, help, labelNames: Object.keys(labels[0] ?? {}) as L[], registers });
    for (const label of labels) made.inc(label, 0);
    return made;
  };
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const relay = counter(
    'flotilla_relay_events_total',
    'Actions of the outbox dispatcher, by kind',
    DISPATCHER_EVENTS.map((kind) => ({ kind })),
  );
  const steps = new Histogram({
    name: 'flotilla_step_duration_seconds',
    help: 'Duration of one Temporal activity in this process, by activity',
    labelNames: ['step', 'outcome'] as const,
    buckets: STEP_SECONDS,
    registers,
  });
  const processed = counter(
    'flotilla_lane_events_total',
    'Results of computers and cancel requests that batches processed',
  );
  const closed = counter('flotilla_lanes_closed_total', 'Batches whose last operation ended');
  const repairs = counter(
    'flotilla_repairs_total',
    'Repaired open rows whose workflow was lost, by finder and outcome',
    REPAIR_FINDERS.flatMap((found_by) => REPAIRS.map((outcome) => ({ found_by, outcome }))),
  );
  const stuck = counter(
    'flotilla_workflows_stuck_total',
    'Stuck workflows found, by reason; each counts again a minute later',
    STUCK_REASONS.map((reason) => ({ reason })),
  );
  const missed = counter(
    'flotilla_schedules_missed_total',
    'Missed runs of profiles that were started later',
    PROFILE_KINDS.map((kind) => ({ kind })),
  );
  const lastRun = gauge(
    'flotilla_reconciler_last_run_timestamp_seconds',
    'When the reconciler last completed a run in this process; 0 for never',
  );
  const lastSeconds = gauge('flotilla_reconciler_last_run_duration_seconds', 'Duration of that run');
  return {
    dispatcherEvent: (kind: DispatcherEvent): void => relay.inc({ kind }),
    activityEnded: (step: string, isDone: boolean, seconds: number): void =>
      steps.observe({ step, outcome: isDone ? 'done' : 'failed' }, seconds),
    eventsProcessed: (events: number): void => processed.inc(events),
    batchClosed: (): void => closed.inc(),
    repaired: (found_by: RepairFinder, outcome: RepairMade): void => repairs.inc({ found_by, outcome }),
    stuck: (reason: StuckReason): void => stuck.inc({ reason }),
    reconciled: (seconds: number): void => {
      lastRun.set(clock.now().getTime() / 1000);
      lastSeconds.set(seconds);
    },
    scheduleMissed: (kind: string): void => missed.inc({ kind }),
  };
}
