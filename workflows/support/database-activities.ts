import { ActivityFailure, ApplicationFailure, type UntypedActivities } from '@temporalio/common';
import { CancellationScope, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

/** Local activities leave only a marker in the history. Three attempts, because each further one adds events. */
const LOCAL_TRIES = {
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '25s',
  retry: { maximumAttempts: 3, initialInterval: '100ms' },
} as const;

/** Retried for as long as the database is down, without adding events. */
const ENDLESS_RETRIES = {
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
} as const;

/**
 * Locally first, then as normal activities. Never canceled; not in parallel. @throws {ApplicationFailure} of a type of
 * {@link FAILURE_TYPES}, when a retry cannot help @see docs/architecture.md#rules-for-database-steps
 */
export function proxyDatabaseActivities<A>(): A {
  const local = proxyLocalActivities<UntypedActivities>(LOCAL_TRIES);
  const retried = proxyActivities<UntypedActivities>(ENDLESS_RETRIES);
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      withoutCancellation(async () => {
        try {
          return await local[name]!(...args);
        } catch (error) {
          const final = finalFailure(error);
          if (final) throw final;
        }
        try {
          return await retried[name]!(...args);
        } catch (error) {
          throw finalFailure(error) ?? error;
        }
      });
  return new Proxy({}, { get: (_, name: string) => call(name) }) as A;
}

/** A scope in one that is not cancellable either would change nothing, and each costs half a dozen promises. */
function withoutCancellation<T>(work: () => Promise<T>): Promise<T> {
  return CancellationScope.current().cancellable ? CancellationScope.nonCancellable(work) : work();
}

/** The permanent failure of an activity; null when a retry may succeed. */
function finalFailure(error: unknown): ApplicationFailure | null {
  // Local activities fail without a wrapper.
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable ? cause : null;
}
