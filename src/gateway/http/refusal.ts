import type { Response } from 'express';

/** Why a request of an agent is not served at all; agents only ever take it as "try again". */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Whole seconds, with 429 and 503. */
  readonly retryAfterSeconds: number;

  constructor(status: number, code: string, message: string, retryAfterSeconds = 5) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds));
  }
}

/** Answers with the error body of api-decisions 1.1. */
export function sendRefusal(res: Response, refusal: Refusal): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  // What was not read of the body would be taken for the next request.
  if (!res.req.complete) res.set('Connection', 'close');
  if (refusal.status === 503 || refusal.status === 429) res.set('Retry-After', String(refusal.retryAfterSeconds));
  res.status(refusal.status).json({ error: refusal.code, message: refusal.message, code: refusal.status });
}
