import { CancellationScope } from '@temporalio/workflow';

/** Local: a marker and nothing else in the history. Three tries only, because each further one would add events. */
export const QUICK = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '25s',
  retry: { maximumAttempts: 3, initialInterval: '100ms' },
} as const;

/** Retried for as long as the database is away, without events. */
export const PATIENT = {
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
} as const;

/**
 * Runs a database step: tried locally first, then as a retrying Temporal activity.
 *
 * @remarks Never cancelled: a cancelled workflow still has rows to settle. Not to be run in parallel.
 * @see docs/architecture.md#rules-for-database-steps
 */
export function runStep<T>(quick: () => Promise<T>, patient: () => Promise<T>): Promise<T> {
  return CancellationScope.nonCancellable(async () => {
    try {
      return await quick();
    } catch {
      return await patient();
    }
  });
}
