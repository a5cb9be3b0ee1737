import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of every response. Responses hold data of one account, an identity or a token and must not be cached. */
export const RESPONSE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
} as const;

/** Status recorded for a request whose client disconnected before the response; never sent. */
export const CLIENT_CLOSED_REQUEST = 499;

/** How long a client may go on sending after the response. */
const LINGER_MS = 2_000;

/**
 * Sends a body before the request was read to its end, and ends the response once the client has sent the rest, or
 * after a short time: an earlier end would reset the connection, and the client would lose the response.
 */
export function endWithUnreadBody(req: IncomingMessage, res: ServerResponse, body: Uint8Array | string): void {
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
