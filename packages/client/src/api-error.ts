/** A field (`path`) or an object (`id`) that is the reason for an error; in a query also the position, in characters from 1. */
export interface ErrorDetail {
  path?: string;
  id?: number;
  position?: number;
  message: string;
}

/** An error response of the API; its message is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Of HTTP. */
  readonly status: number;
  /** Stable, such as `InvalidParameter`; `Unknown` if the response did not come from the API. */
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  /** Under which the log of the server has the request. */
  readonly requestId: string | null;
  /** From `Retry-After`; 0 without it. */
  readonly retryAfterMs: number;

  constructor(response: Response, body: unknown) {
    const { error, message, details } = (typeof body === 'object' && body !== null ? body : {}) as {
      error?: string;
      message?: string;
      details?: ErrorDetail[];
    };
    super(message ?? `The server responded with status ${response.status}`);
    this.status = response.status;
    this.code = error ?? 'Unknown';
    this.details = details ?? [];
    this.requestId = response.headers.get('x-request-id');
    this.retryAfterMs = retryAfterMsOf(response);
  }
}

/** The API sends seconds; proxies may send a date, which the usual pauses replace. */
export function retryAfterMsOf({ headers }: Response): number {
  return (Number(headers.get('retry-after')) || 0) * 1000;
}
