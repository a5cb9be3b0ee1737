import type { Options } from 'p-retry';

/** Options of p-retry: a retry every `pauseMs`, for as long as `limitMs` after the first attempt. */
export function retryEvery(pauseMs: number, limitMs = Number.POSITIVE_INFINITY): Options {
  return { retries: Number.POSITIVE_INFINITY, minTimeout: pauseMs, factor: 1, maxRetryTime: Math.max(0, limitMs) };
}
