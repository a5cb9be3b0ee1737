import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of every response. Responses hold data of one account, an identity or a token and must not be cached. */
export const RESPONSE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
} as const;

/** Status recorded for a request whose client disconnected before the response; never sent. */
export const CLIENT_CLOSED_REQUEST = 499;

const LINGER_MS = 2_000;

/** Responds before the request is read, and ends later: at once would reset the connection and lose the response. */
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
