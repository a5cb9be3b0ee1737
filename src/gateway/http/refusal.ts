import type { Response } from 'express';
import { ANSWER_HEADERS, endUnread } from '../../process/http-answers.ts';

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

const ASKED_LATER: ReadonlySet<number> = new Set([429, 503]);

/** Answers with the error body of docs/api-conventions.md#error-body. */
export function sendRefusal(res: Response, refusal: Refusal): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, code, message, retryAfterSeconds } = refusal;
  const { complete } = res.req;
  const body = JSON.stringify({ error: code, message, code: status });
  res.writeHead(status, {
    ...ANSWER_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...(ASKED_LATER.has(status) && { 'Retry-After': retryAfterSeconds }),
    // Nobody waits for the rest of the body to serve another request behind it.
    ...(!complete && { Connection: 'close' }),
  });
  if (complete) res.end(body);
  else endUnread(res.req, res, body);
}
