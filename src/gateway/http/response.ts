import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { endWithUnreadBody, RESPONSE_HEADERS } from '../../process/http-response.ts';
import type { Logger } from '../../process/logger.ts';
import { isDatabaseUnavailable } from '../../services/common/ports.ts';

/** An error response to an agent. Agents treat every error as "try again later". */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  /** Whole seconds, sent with 429 and 503. */
  readonly retryAfterSeconds: number;

  constructor(status: number, code: string, message: string, retryAfterSeconds = 5) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds));
  }
}

/** The error of what a limit of concurrency rejects. */
export function tooManyAtOnce(): HttpError {
  return new HttpError(503, 'ServiceUnavailable', 'Too many at once');
}

/** Converts any error to an agent's error response and logs unexpected ones. */
export function toHttpError(error: unknown, logger: Logger): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof URIError) return new HttpError(400, 'InvalidParameter', 'The path is not well-formed');
  // Other properties of a PostgreSQL error can contain data from agents.
  const { name, stack, code } = error as Error & { code?: unknown };
  if (isDatabaseUnavailable(error)) {
    logger.warn({ err: { name, code } }, 'the database is unavailable');
    return new HttpError(503, 'ServiceUnavailable', 'Try again later');
  }
  logger.error({ err: { name, stack, sqlState: code } }, 'an exchange failed');
  return new HttpError(500, 'InternalError', 'Something went wrong');
}

const RETRY_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** Sends the error body of docs/api-conventions.md#error-body. */
export function sendError(res: Response, error: HttpError): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, code, message, retryAfterSeconds } = error;
  const { complete } = res.req;
  const body = JSON.stringify({ error: code, message, code: status });
  res.writeHead(status, {
    ...RESPONSE_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...(RETRY_STATUSES.has(status) && { 'Retry-After': retryAfterSeconds }),
    // The unread rest of the body would precede the next request on this connection.
    ...(!complete && { Connection: 'close' }),
  });
  if (complete) res.end(body);
  else endWithUnreadBody(res.req, res, body);
}

export function sendBytes(res: ServerResponse, bytes: Uint8Array): void {
  // Setting headers one by one is measurably slower at tens of thousands of pings a second.
  res.writeHead(200, {
    ...RESPONSE_HEADERS,
    'Content-Type': 'application/octet-stream',
    'Content-Length': bytes.length,
  });
  res.end(bytes);
}
