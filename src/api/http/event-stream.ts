import { Readable } from 'node:stream';
import type { Response } from 'express';

/** Media type of server-sent events. */
const EVENT_STREAM = 'text/event-stream';
const RETRY_MS = 1_000;

export const HEARTBEAT = ': heartbeat\n\n';

/** A body of server-sent events. */
export function eventStream(response: Response, messages: AsyncIterable<string>): Readable {
  // Proxies would collect events before they pass them on.
  response.type(EVENT_STREAM).set('X-Accel-Buffering', 'no');
  return Readable.from(withRetry(messages), { objectMode: false });
}

async function* withRetry(messages: AsyncIterable<string>): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  yield* messages;
}
