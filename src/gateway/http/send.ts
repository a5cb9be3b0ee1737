import type { ServerResponse } from 'node:http';
import { ANSWER_HEADERS } from '../../process/http-answers.ts';

/** Answers 200 with bytes. */
export function sendBytes(res: ServerResponse, bytes: Uint8Array): void {
  // One write of the head: each header that is set by itself costs, for tens of thousands of pings a second.
  res.writeHead(200, {
    ...ANSWER_HEADERS,
    'Content-Type': 'application/octet-stream',
    'Content-Length': bytes.length,
  });
  res.end(bytes);
}
