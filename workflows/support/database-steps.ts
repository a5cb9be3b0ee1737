import { CancellationScope, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { LaneActivities } from '../contracts/activities.ts';

const PATIENT = {
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
} as const;

/** Local: a marker and nothing else in the history. Three tries only, because each further one would add events. */
const quick = proxyLocalActivities<LaneActivities>({
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '25s',
  retry: { maximumAttempts: 3, initialInterval: '100ms' },
});

/** Retried for as long as the database is away, without events. */
const patient = proxyActivities<LaneActivities>(PATIENT);

/**
 * The steps of LaneActivities for workflow code: tried locally first, then as a retrying Temporal activity.
 *
 * @remarks Never cancelled: a cancelled workflow still has rows to settle. Not to be run in parallel.
 * @see temporal-design 4, "Rules"
 */
export const steps: LaneActivities = {
  advance: (lane, cancelAll) => run('advance', lane, cancelAll),
  begin: (activity) => run('begin', activity),
  settle: (activity, cancelAll) => run('settle', activity, cancelAll),
  requestCancel: (workflowId, runId) => run('requestCancel', workflowId, runId),
};

function run<K extends keyof LaneActivities>(
  step: K,
  ...args: Parameters<LaneActivities[K]>
): ReturnType<LaneActivities[K]> {
  const call = (on: LaneActivities) => (on[step] as (...a: typeof args) => ReturnType<LaneActivities[K]>)(...args);
  return CancellationScope.nonCancellable(async () => {
    try {
      return await call(quick);
    } catch {
      return await call(patient);
    }
  }) as ReturnType<LaneActivities[K]>;
}
