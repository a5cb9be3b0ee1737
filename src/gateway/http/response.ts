import { DomainError, ERROR_STATUS } from '../../domain/common/errors.ts';
import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { endWithUnreadBody, RESPONSE_HEADERS } from '../../process/http-response.ts';
import type { Logger } from '../../process/logger.ts';
import { isDatabaseUnavailable } from '../../services/common/ports.ts';

/** The error of what a limit of concurrency rejects. */
export function tooManyAtOnce(): DomainError {
  return new DomainError('ServiceUnavailable', 'Too many at once');
}

/** @param waitSeconds - of token buckets @throws {DomainError} TooManyRequests unless it is 0 */
export function rejectIfLimited(waitSeconds: number, message: string): void {
  if (waitSeconds > 0) throw new DomainError('TooManyRequests', message, { retryAfterSeconds: waitSeconds });
}

/** Agents treat every error as "try again later", after so many seconds unless it names others. */
const RETRY_SECONDS = 5;

/** Converts any error to an agent's error response and logs unexpected ones. */
export function toDomainError(error: unknown, logger: Logger): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof URIError) return new DomainError('InvalidParameter', 'The path is not well-formed');
  // Other properties of a PostgreSQL error can contain data from agents.
  const { name, stack, code } = error as Error & { code?: unknown };
  if (isDatabaseUnavailable(error)) {
    logger.warn({ err: { name, code } }, 'the database is unavailable');
    return new DomainError('ServiceUnavailable', 'Try again later');
  }
  logger.error({ err: { name, stack, sqlState: code } }, 'an exchange failed');
  return new DomainError('InternalError', 'Something went wrong');
}

const RETRY_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** Sends the error body of docs/api-conventions.md#error-body. */
export function sendError(res: Response, error: DomainError): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { code, message, retryAfterSeconds = RETRY_SECONDS } = error;
  const status = ERROR_STATUS[code];
  const { complete } = res.req;
  const body = JSON.stringify({ error: code, message, code: status });
  res.writeHead(status, {
    ...RESPONSE_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...(RETRY_STATUSES.has(status) && { 'Retry-After': Math.max(1, Math.ceil(retryAfterSeconds)) }),
    // The unread rest of the body would precede the next request on this connection.
    ...(!complete && { Connection: 'close' }),
  });
  if (complete) res.end(body);
  else endWithUnreadBody(res.req, res, body);
}

/** Sends status 200 and ends the response. */
export function sendBytes(res: ServerResponse, bytes: Uint8Array): void {
  // Setting headers one by one is measurably slower at tens of thousands of pings a second.
  res.writeHead(200, {
    ...RESPONSE_HEADERS,
    'Content-Type': 'application/octet-stream',
    'Content-Length': bytes.length,
  });
  res.end(bytes);
}
