import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import { ANSWER_HEADERS, endUnread } from '../../../process/http-answers.ts';
import type { Logger } from '../../../process/logger.ts';
import { isDatabaseAway } from '../../../services/common/availability.ts';
import { JsonText } from '../request/json-text.ts';
import { RawBody } from '../request/raw-body.ts';
import { MethodNotAllowed } from '../route-table.ts';
import { NoRoomForBody } from './body-bytes.ts';
import { type ErrorReply, errorReply } from './error-body.ts';

/** Headers of every answer of the API. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...ANSWER_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Sends an answer in one write, as JSON where the body is not raw. An undefined body sends none. */
export function sendJson(
  req: Request,
  res: Response,
  answer: { status: number; body: unknown; headers: Record<string, string>; requestId: string },
): void {
  const { status, body, headers, requestId } = answer;
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
  // Where the connection ends with the answer, what is still under way would reset it.
  if (!req.complete && !res.shouldKeepAlive) endUnread(req, res, bytes);
  else res.end(req.method === 'HEAD' ? undefined : bytes);
}

function jsonBody(body: unknown): { bytes: string; mediaType: string } {
  const bytes = body instanceof JsonText ? body.text : JSON.stringify(body);
  return { bytes, mediaType: 'application/json; charset=utf-8' };
}

/**
 * Sends text piece by piece, no faster than the client takes it.
 *
 * @throws when the text cannot be read to its end; before the first piece nothing is sent
 */
export async function sendStream(
  req: Request,
  res: Response,
  answer: { type: string; pieces: AsyncIterable<Buffer | string>; headers: Record<string, string>; requestId: string },
): Promise<void> {
  const pieces = Readable.from(answer.pieces);
  await once(pieces, 'readable');
  res.writeHead(200, {
    ...API_HEADERS,
    'X-Request-Id': answer.requestId,
    'Content-Type': answer.type,
    ...answer.headers,
  });
  if (req.method !== 'HEAD') return await pipeline(pieces, res);
  pieces.destroy();
  res.end();
}

/** How streams tell that their reader is gone. */
const CUT: ReadonlySet<unknown> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_UNABLE_TO_PIPE',
]);

/** Whether what {@link sendStream} threw means that the client took no more of the answer. */
export function isCutByClient(error: unknown): boolean {
  return CUT.has((error as { code?: unknown } | null)?.code);
}

/** Whether the client is gone: before it had the answer, or before it had sent the whole request. */
export function hasLeft(req: Request, res: Response): boolean {
  // One that took all of a stream: both are destroyed behind it.
  if (res.writableFinished) return false;
  return res.destroyed || (req.destroyed && !req.complete);
}

/**
 * Turns anything thrown into an answer. Refusals answer as they say, an unreachable database 503, everything else is a
 * defect: logged with its cause and answered 500 without inner text.
 */
export function replyToError(error: unknown, requestId: string, logger: Logger): ErrorReply {
  if (error instanceof DomainError) {
    const reply = errorReply(error);
    if (error instanceof MethodNotAllowed) reply.headers['Allow'] = error.allow;
    // The rest of such a body is not waited for: the connection ends with the answer.
    if (error.code === 'PayloadTooLarge' || error instanceof NoRoomForBody) reply.headers['Connection'] = 'close';
    return reply;
  }
  const unreadable = unreadableRequest(error);
  if (unreadable) return replyToError(unreadable, requestId, logger);
  if (isDatabaseAway(error)) {
    logger.warn({ requestId, err: error }, 'the database is away');
    return errorReply(
      new DomainError('ServiceUnavailable', 'The database is away; try again shortly', { retryAfterSeconds: 2 }),
    );
  }
  logger.error({ requestId, err: error }, 'a request failed');
  return errorReply(new DomainError('InternalError', `Something went wrong here; request ${requestId}`));
}

/** Refusals of the body reader, which have a status of their own, as ours. */
function unreadableRequest(error: unknown): DomainError | null {
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 413) return new DomainError('PayloadTooLarge', 'The body is too large');
  if (status === 415)
    return new DomainError('UnsupportedMediaType', 'The body has a type or encoding that is not known here');
  if (status === 400) return new DomainError('InvalidParameter', 'The request could not be read');
  return null;
}

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** The caller's own `X-Request-Id` where it is short and plain, else a new one. */
export function requestIdOf(req: Request): string {
  const sent = req.headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : crypto.randomUUID();
}
