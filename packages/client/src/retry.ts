import pRetry from 'p-retry';
import { retryAfterMsOf } from './api-error.ts';
import { sleep } from './sleep.ts';

const REPEATABLE = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
/** The server states with these that it has changed nothing. */
const UNCHANGED = new Set([429, 503]);
/** A proxy does not know whether the server has received the request. */
const UNCERTAIN = new Set([502, 504]);
const BACKOFF = { retries: 4, minTimeout: 250, maxTimeout: 5000, randomize: true };
/**
 * An address where nothing responds is more likely to be wrong than to get better. Two pauses add up to at most this,
 * three to more, so that the fourth, of up to 4 s, never follows.
 */
const MAX_UNREACHABLE_MS = 1500;
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
/** A caller should decide whether to wait longer than this. */
const MAX_RETRY_AFTER_MS = 30_000;

class RetryableResponse extends Error {
  readonly response: Response;
  readonly retryAfterMs: number;

  constructor(response: Response, retryAfterMs: number) {
    super(`status ${response.status}`);
    this.response = response;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Sends a copy of a request, whose own signal garbage collection may end. */
type Send = (request: Request, signal: AbortSignal) => Promise<Response>;

/**
 * Sends a request, up to five times where a repetition cannot do anything twice: after 429 and 503, and, unless it is a
 * POST or PATCH, after 502, 504 and broken connections. `Retry-After` is followed up to 30 s. Where nothing can be reached it
 * starts no attempt after 3.5 s.
 * @returns the last response. @throws the error of the last attempt if that has none
 */
export async function fetchWithRetries(request: Request, send: Send): Promise<Response> {
  const isRepeatable = REPEATABLE.has(request.method);
  const startedAt = performance.now();
  const isWorthwhile = (error: Error) =>
    error instanceof RetryableResponse ||
    (isRepeatable && !(isUnreachable(error) && performance.now() - startedAt > MAX_UNREACHABLE_MS));
  const attempt = async () => {
    const response = await send(request.clone(), request.signal);
    const retryAfterMs = retryAfterMsOf(response);
    const isRetryable = UNCHANGED.has(response.status) || (isRepeatable && UNCERTAIN.has(response.status));
    if (isRetryable && retryAfterMs <= MAX_RETRY_AFTER_MS) throw new RetryableResponse(response, retryAfterMs);
    return response;
  };
  try {
    return await pRetry(attempt, {
      ...BACKOFF,
      signal: request.signal,
      shouldRetry: ({ error }) => isWorthwhile(error),
      async onFailedAttempt({ error, retriesLeft }) {
        if (error instanceof RetryableResponse && retriesLeft > 0) await sleep(error.retryAfterMs, request.signal);
      },
    });
  } catch (error) {
    if (error instanceof RetryableResponse) return error.response;
    throw error;
  }
}

/** Whether no connection was made, by the code of the innermost cause. */
function isUnreachable(error: Error): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const [first = cause] = cause instanceof AggregateError ? cause.errors : [];
    if (UNREACHABLE.has((first as { code?: string }).code ?? '')) return true;
  }
  return false;
}
