import { ActivityFailure, ApplicationFailure, type UntypedActivities } from '@temporalio/common';
import { CancellationScope, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

/** Local: a marker and nothing else in the history. Three tries only, because each further one would add events. */
const LOCAL_TRIES = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '25s',
  retry: { maximumAttempts: 3, initialInterval: '100ms' },
} as const;

/** Retried for as long as the database is away, without events. */
const ENDLESS_RETRIES = {
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
} as const;

/**
 * Temporal activities over the database for workflow code: each is tried locally first, then as a normal one with
 * retries.
 * @throws {ApplicationFailure} of a type of {@link FAILURE_TYPES}, when trying again would change nothing
 * @remarks Never cancelled: a cancelled workflow still has rows to settle. Not to be run in parallel.
 * @see docs/architecture.md#rules-for-database-steps
 */
export function proxyDatabaseActivities<A>(): A {
  const local = proxyLocalActivities<UntypedActivities>(LOCAL_TRIES);
  const retried = proxyActivities<UntypedActivities>(ENDLESS_RETRIES);
  const call =
    (name: string) =>
    async (...args: unknown[]) =>
      CancellationScope.nonCancellable(async () => {
        try {
          return await local[name]!(...args).catch((error: unknown) => {
            if (finalFailure(error)) throw error;
            return retried[name]!(...args);
          });
        } catch (error) {
          throw finalFailure(error) ?? error;
        }
      });
  return new Proxy({}, { get: (_, name: string) => call(name) }) as A;
}

/** What an activity failed with for good; null when it may succeed another time. */
function finalFailure(error: unknown): ApplicationFailure | null {
  // A local one fails without a wrapper.
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable ? cause : null;
}
