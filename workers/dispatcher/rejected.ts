import { isGrpcServiceError } from '@temporalio/client';

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
/** Of an unavailable or overloaded server, as opposed to an invalid entry. */
const UNAVAILABLE_CODES = new Set([1, 4, 8, 14]);

/** Entries or batches that the server rejected, with the time of their next retry; in memory only, safe to lose. */
export class RejectedEntries {
  readonly #entries = new Map<number, { until: number; pauseMs: number }>();

  /** Ids whose next retry is after `nowMs` (of `performance.now()`). */
  waiting(nowMs: number): number[] {
    return [...this.#entries].filter(([, { until }]) => until > nowMs).map(([id]) => id);
  }

  /** Pauses an entry for 1 s, and twice as long each further time, up to a minute. */
  add(id: number): void {
    const pauseMs = Math.min((this.#entries.get(id)?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LAST_PAUSE_MS);
    this.#entries.set(id, { until: performance.now() + pauseMs, pauseMs });
  }

  delete(ids: readonly number[]): void {
    for (const id of ids) this.#entries.delete(id);
  }

  /** Deletes all others. */
  keep(ids: ReadonlySet<number>): void {
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id);
  }
}

/** Whether a call failed because the server is unavailable. The client wraps some call errors in a ServiceError. */
export function isServerUnavailable(error: unknown): boolean {
  if (isGrpcServiceError(error)) return UNAVAILABLE_CODES.has(error.code);
  return error instanceof Error && error.cause !== undefined && isServerUnavailable(error.cause);
}
