import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import { endWithUnreadBody, RESPONSE_HEADERS } from '../../../process/http-response.ts';
import type { Logger } from '../../../process/logger.ts';
import { isDatabaseUnavailable } from '../../../services/common/ports.ts';
import { JsonText, RawBody } from '../response-bodies.ts';
import { RequestMemoryExceeded } from './body-stream.ts';
import { type ErrorResponse, formatError, MethodNotAllowed } from './error-response.ts';

export const API_HEADERS: Readonly<Record<string, string>> = {
  ...RESPONSE_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Sends a response in one write, as JSON unless the body is raw. */
export function sendJson(
  req: Request,
  res: Response,
  response: { status: number; body: unknown; headers: Record<string, string>; requestId: string },
): void {
  const { status, body, headers, requestId } = response;
  if (body === undefined) {
    res.writeHead(status, { ...API_HEADERS, 'X-Request-Id': requestId, ...headers });
    res.end();
    return;
  }
  if (headers['Connection'] === 'close') res.shouldKeepAlive = false;
  const { bytes, mediaType } = body instanceof RawBody ? body : jsonBody(body);
  res.writeHead(status, {
    ...API_HEADERS,
    'X-Request-Id': requestId,
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(bytes),
    ...headers,
  });
  if (!req.complete && !res.shouldKeepAlive) endWithUnreadBody(req, res, bytes);
  else res.end(req.method === 'HEAD' ? undefined : bytes);
}

function jsonBody(body: unknown): { bytes: string; mediaType: string } {
  const bytes = body instanceof JsonText ? body.text : JSON.stringify(body);
  return { bytes, mediaType: 'application/json; charset=utf-8' };
}

/** @throws when reading fails; nothing is sent before the first piece */
export async function sendStream(
  req: Request,
  res: Response,
  response: {
    type: string;
    pieces: AsyncIterable<Buffer | string>;
    headers: Record<string, string>;
    requestId: string;
  },
): Promise<void> {
  const pieces = Readable.from(response.pieces);
  await once(pieces, 'readable');
  res.writeHead(200, {
    ...API_HEADERS,
    'X-Request-Id': response.requestId,
    'Content-Type': response.type,
    ...response.headers,
  });
  if (req.method !== 'HEAD') return await pipeline(pieces, res);
  pieces.destroy();
  res.end();
}

const DISCONNECT_CODES: ReadonlySet<unknown> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_UNABLE_TO_PIPE',
]);

/** Whether an error of {@link sendStream} means that the client disconnected. */
export function isClientDisconnect(error: unknown): boolean {
  return DISCONNECT_CODES.has((error as { code?: unknown } | null)?.code);
}

/** Whether the client disconnected before it had received the response or sent the whole request. */
export function hasDisconnected(req: Request, res: Response): boolean {
  // After a complete stream both are destroyed as well.
  if (res.writableFinished) return false;
  return res.destroyed || (req.destroyed && !req.complete);
}

/**
 * Turns an error into a response: a DomainError into its own, an unavailable database into 503. Everything else is a
 * defect: it is logged, and the 500 reveals nothing of it.
 */
export function toErrorResponse(error: unknown, requestId: string, logger: Logger): ErrorResponse {
  if (error instanceof DomainError) {
    const response = formatError(error);
    if (error instanceof MethodNotAllowed) response.headers['Allow'] = error.allow;
    // The rest of the body is not read, so the connection has to close.
    if (error.code === 'PayloadTooLarge' || error instanceof RequestMemoryExceeded)
      response.headers['Connection'] = 'close';
    return response;
  }
  const unreadable = bodyParserError(error);
  if (unreadable) return toErrorResponse(unreadable, requestId, logger);
  if (isDatabaseUnavailable(error)) {
    logger.warn({ requestId, err: error }, 'the database is unavailable');
    return formatError(
      new DomainError('ServiceUnavailable', 'The database is unavailable; try again shortly', { retryAfterSeconds: 2 }),
    );
  }
  logger.error({ requestId, err: error }, 'a request failed');
  return formatError(new DomainError('InternalError', `An internal error occurred; request ${requestId}`));
}

/** Express and its parsers throw errors with a status. */
function bodyParserError(error: unknown): DomainError | null {
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 413) return new DomainError('PayloadTooLarge', 'The body is too large');
  if (status === 415) return new DomainError('UnsupportedMediaType', 'The body has an unsupported type or encoding');
  if (status === 400) return new DomainError('InvalidParameter', 'The request could not be read');
  return null;
}
