/** What to do about a service that ended: start it again after a pause, or give up. */
export type Verdict = { restart: true; afterMs: number } | { restart: false; deaths: number };

export interface RestartPolicy {
  /** @param nowMs - a clock that only runs forward */
  onDeath(nowMs: number): Verdict;
}

export const RESTART = { firstPauseMs: 250, maxPauseMs: 8000, windowMs: 60_000, maxDeaths: 6 } as const;

/**
 * Pauses that double with each death of the last minute; at the sixth within a minute it gives up: a service that cannot
 * live that long has a lasting reason.
 */
export function createRestartPolicy(limits: typeof RESTART = RESTART): RestartPolicy {
  let deaths: number[] = [];
  return {
    onDeath(nowMs) {
      deaths = [...deaths.filter((at) => nowMs - at < limits.windowMs), nowMs];
      if (deaths.length >= limits.maxDeaths) return { restart: false, deaths: deaths.length };
      return { restart: true, afterMs: Math.min(limits.firstPauseMs * 2 ** (deaths.length - 1), limits.maxPauseMs) };
    },
  };
}
