import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of every answer. Answers hold data of one account, an identity or a token: nobody may store them. */
export const ANSWER_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
} as const;

/** Status that a request counts with when its client went away before the answer; never sent. */
export const CLIENT_CLOSED = 499;

/** A client may take this long, in milliseconds, to see the answer before it has sent everything. */
const LINGER_MS = 2_000;

/**
 * Sends the body of an answer whole and at once, though the request was not read to its end, and ends the answer when
 * the client has sent the rest, or soon. Closing the connection on what is still under way would reset it and take the
 * answer with it.
 *
 * @param res - its head is written, with the length of the body and `Connection: close`
 */
export function endUnread(req: IncomingMessage, res: ServerResponse, body: Uint8Array | string): void {
  res.shouldKeepAlive = false;
  res.write(body);
  const limit = setTimeout(() => res.end(), LINGER_MS);
  const end = (): void => {
    clearTimeout(limit);
    res.end();
  };
  req.once('end', end).once('close', end).resume();
  if (req.destroyed) end();
}
