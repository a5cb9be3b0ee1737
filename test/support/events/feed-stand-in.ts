import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { HELD } from './held.ts';

/** What happens to one request for the stream; without a fault it stays open. */
export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  /** The connection breaks before the response. */
  | { kind: 'reset' }
  /** The response breaks, or ends as if it were whole, after so many bytes. */
  | { kind: 'cut' | 'end'; bytes: number }
  | { kind: 'silence' };

export interface FeedStandIn {
  url: string;
  /** The cursor of each request for the stream, or the start that it asked for. */
  cursors: string[];
  authorizations: Array<string | undefined>;
  /** Streams and held responses that are open now. */
  open: () => number;
  close(): Promise<void>;
}

/** The id of the nth event, from 1. */
export const idOf = (n: number) => `100-${n}`;

/** The nth event; its text has characters of several bytes. */
export function eventOf(n: number): object {
  const data = { computer_id: n, title: `ordinateur n° ${n} 🖥`, changed: ['title'] };
  const time = new Date(Date.UTC(2026, 10, 27, 10, 30, n)).toISOString();
  return { specversion: '1.0', id: idOf(n), type: 'computer.changed', subject: `computers/${n}`, time, data };
}

/** A stand-in for the feed of a server, with so many events and one fault after the other. */
export async function startFeed(count: number, faults: Fault[], port = 0): Promise<FeedStandIn> {
  const streams = new Set<ServerResponse>();
  const [cursors, authorizations] = [[] as string[], [] as Array<string | undefined>];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://feed');
    const isHeld = url.pathname.endsWith(`/activities/${HELD}`);
    if (!isHeld && !url.pathname.endsWith('/events:stream')) return respond(request, response);
    streams.add(response);
    response.on('close', () => streams.delete(response));
    if (isHeld) return undefined;
    const cursor = request.headers['last-event-id']?.toString() ?? url.searchParams.get('after')!;
    cursors.push(cursor);
    authorizations.push(request.headers.authorization);
    return stream(response, bytesAfter(cursor, count), faults.shift());
  });
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((settle) => server.close(settle));
  };
  await new Promise<void>((settle) => server.listen(port, '127.0.0.1', settle));
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, cursors, authorizations, open: () => streams.size, close };
}

let logins = 0;

function respond(request: IncomingMessage, response: ServerResponse): void {
  logins += 1;
  const isLogin = request.url!.endsWith('/login');
  response.writeHead(isLogin ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isLogin ? { token: `token-${logins}` } : {}));
}

/** What the server sends after a cursor: `oldest`, `latest`, or the id of an event. */
function bytesAfter(cursor: string, count: number): Buffer {
  const last = cursor === 'oldest' ? 0 : cursor === 'latest' ? count : Number(cursor.split('-')[1]);
  const ids = Array.from({ length: count - last }, (_, i) => last + 1 + i);
  const events = ids.map((n) => `id: ${idOf(n)}\nevent: computer.changed\ndata: ${JSON.stringify(eventOf(n))}\n\n`);
  return Buffer.from(`retry: 1000\n\nid: ${last === 0 ? '0-0' : idOf(last)}\n\n: heartbeat\n\n${events.join('')}`);
}

function stream(response: ServerResponse, bytes: Buffer, fault: Fault | undefined): void {
  if (fault?.kind === 'reset') {
    response.socket!.destroy();
  } else if (fault?.kind === 'status') {
    response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
    response.end(JSON.stringify({ error: 'Code', message: 'why', code: fault.status }));
  } else {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    if (!fault) response.write(bytes);
    else if (fault.kind === 'end') response.end(bytes.subarray(0, fault.bytes));
    else if (fault.kind === 'cut')
      response.write(bytes.subarray(0, fault.bytes), () => setImmediate(() => response.socket?.destroy()));
  }
}
