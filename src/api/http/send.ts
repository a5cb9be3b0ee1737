import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { CLIENT_CLOSED_REQUEST, endWithUnreadBody, RESPONSE_HEADERS } from '../../process/http-response.ts';
import { JsonText } from './handler.ts';

export const API_HEADERS: Readonly<Record<string, string>> = {
  ...RESPONSE_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends a response in one write, as JSON unless the body is bytes. */
export function send(
  req: Request,
  res: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const head = { ...API_HEADERS, 'X-Request-Id': res.locals.requestId };
  if (body === undefined) {
    res.writeHead(status, { ...head, ...headers }).end();
    return;
  }
  if (headers['Connection'] === 'close') res.shouldKeepAlive = false;
  const isBytes = body instanceof Uint8Array;
  const bytes = isBytes ? body : body instanceof JsonText ? body.text : JSON.stringify(body);
  res.writeHead(status, {
    ...head,
    'Content-Type': isBytes ? 'application/octet-stream' : JSON_TYPE,
    'Content-Length': Buffer.byteLength(bytes),
    ...headers,
  });
  if (!req.complete && !res.shouldKeepAlive) endWithUnreadBody(req, res, bytes);
  else res.end(req.method === 'HEAD' ? undefined : bytes);
}

/** @throws when reading fails; nothing is sent before the first chunk */
export async function sendStream(req: Request, res: Response, chunks: Readable): Promise<void> {
  await once(chunks, 'readable');
  res.writeHead(200, { ...API_HEADERS, 'X-Request-Id': res.locals.requestId });
  if (req.method !== 'HEAD') return await pipeline(chunks, res);
  chunks.destroy();
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

/** The status sent, or 499 when the client disconnected before it had received the response or sent its request. */
export function recordedStatus(req: Request, res: Response): number {
  // After a complete stream both are destroyed as well.
  const isGone = !res.writableFinished && (res.destroyed || (req.destroyed && !req.complete));
  return isGone && res.statusCode < 500 ? CLIENT_CLOSED_REQUEST : res.statusCode;
}
