import pRetry from 'p-retry';
import { sleep } from './sleep.ts';

const REPEATABLE = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);
/** The server states with these that it has changed nothing. */
const UNCHANGED = new Set([429, 503]);
/** A proxy cannot tell whether the server has received the request. */
const UNCERTAIN = new Set([502, 504]);
const BACKOFF = { retries: 4, minTimeout: 250, maxTimeout: 5000, randomize: true };
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

/**
 * Sends a request, up to five times where a repetition cannot do anything twice: after 429 and 503, and, unless it is a
 * POST or PATCH, after 502, 504 and broken connections. `Retry-After` is obeyed up to 30 s.
 * @returns the last response. @throws the error of the last attempt if that has none
 */
export async function fetchWithRetries(request: Request, send: (request: Request) => Promise<Response>) {
  const isRepeatable = REPEATABLE.has(request.method);
  const attempt = async () => {
    const response = await send(request.clone());
    // The API sends seconds; proxies may send a date, which the usual pauses replace.
    const retryAfterMs = (Number(response.headers.get('retry-after')) || 0) * 1000;
    const isRetryable = UNCHANGED.has(response.status) || (isRepeatable && UNCERTAIN.has(response.status));
    if (isRetryable && retryAfterMs <= MAX_RETRY_AFTER_MS) throw new RetryableResponse(response, retryAfterMs);
    return response;
  };
  try {
    return await pRetry(attempt, {
      ...BACKOFF,
      signal: request.signal,
      shouldRetry: ({ error }) => isRepeatable || error instanceof RetryableResponse,
      async onFailedAttempt({ error, retriesLeft }) {
        if (error instanceof RetryableResponse && retriesLeft > 0) await sleep(error.retryAfterMs, request.signal);
      },
    });
  } catch (error) {
    if (error instanceof RetryableResponse) return error.response;
    throw error;
  }
}
