import { isGrpcServiceError } from '@temporalio/client';

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;
/** gRPC codes of a server that is away or overloaded, not of an entry that is wrong. */
const SERVER_IS_AWAY = new Set([1, 4, 8, 14]);

/** Entries, or lanes, that the server refused, with the moment of their next try; kept in memory, lost without harm. */
export class RefusedEntries {
  readonly #entries = new Map<number, { until: number; pauseMs: number }>();

  /** Entries whose time has not come at `nowMs`, by a clock that only runs forward. */
  waiting(nowMs: number): number[] {
    return [...this.#entries].filter(([, { until }]) => until > nowMs).map(([id]) => id);
  }

  /** Puts an entry off, longer each time. */
  add(id: number): void {
    const pauseMs = Math.min((this.#entries.get(id)?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LAST_PAUSE_MS);
    this.#entries.set(id, { until: performance.now() + pauseMs, pauseMs });
  }

  forget(ids: readonly number[]): void {
    for (const id of ids) this.#entries.delete(id);
  }

  /** Forgets all others. */
  keep(ids: ReadonlySet<number>): void {
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#entries.delete(id);
  }
}

/** Whether a call failed because the server is away. The client wraps some of its call errors in a ServiceError. */
export function isServerAway(error: unknown): boolean {
  if (isGrpcServiceError(error)) return SERVER_IS_AWAY.has(error.code);
  return error instanceof Error && error.cause !== undefined && isServerAway(error.cause);
}
