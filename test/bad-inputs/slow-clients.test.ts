import { execSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { useGuardedWorld } from './resource-guard.ts';

/** Clients that bring next to nothing, and do not go. @see docs/reliability.md#bad-input */
const SOCKETS = 2000;
/** Sockets that are opened at once: a listener's own queue is shorter than their number. */
const AT_ONCE = 250;
/** What a process has open beside its sockets. */
const OTHER_FILES = 500;
/** The real times are ten seconds and a minute; that they are is checked in the test of the listener. */
const LIMITS = { headersTimeoutMs: 4000, requestTimeoutMs: 6000, checkIntervalMs: 500 };
const BYTE_MS = 1000;

const world = useGuardedWorld(LIMITS);

/** Where fewer files may be open the case is skipped with a message. */
const hasRoom = mostOpenFiles() >= SOCKETS + OTHER_FILES;
const title = 'SLOW-headers/body: 2,000 connections that bring a byte a second';

describe.skipIf(!hasRoom)(hasRoom ? title : `${title} (skipped: no ${SOCKETS + OTHER_FILES} files may be open)`, () => {
  it.each([
    ['headers', 'GET /api/v2/person HTTP/1.1\r\nHost: x\r\nX-A: '],
    [
      'body',
      'POST /api/v2/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{',
    ],
  ])('in their %s are closed at the limits, and the honest are served', async (_, head) => {
    const responses: string[] = [];
    const attack = async () => {
      const sockets = await openAll(head, (response) => responses.push(response));
      await Promise.all(sockets.map((socket) => (socket.closed ? null : once(socket, 'close'))));
    };
    // Thousands of connections are opened, served and closed meanwhile.
    const { honest } = await world.server.expectHarmless(attack, { cpuMs: 3000, rssMb: 120 });
    expect(honest).toBeGreaterThan(10);
    expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 408']));
    expect(responses.length).toBeGreaterThan(SOCKETS / 2);
  });
});

/** Opens the sockets, some at a time; each starts a request and goes on with a byte now and then. */
async function openAll(head: string, reported: (response: string) => void): Promise<Socket[]> {
  const { port } = new URL(world.server.url);
  const sockets: Socket[] = [];
  while (sockets.length < SOCKETS) {
    const some = Array.from({ length: AT_ONCE }, () => connect(Number(port), '127.0.0.1'));
    await Promise.all(some.map((socket) => once(socket, 'connect')));
    for (const socket of some) trickle(socket, head, reported);
    sockets.push(...some);
  }
  return sockets;
}

function trickle(socket: Socket, head: string, reported: (response: string) => void): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('a'), BYTE_MS);
  socket.once('data', (response) => reported(response.toString('latin1', 0, 12)));
  // A byte that comes when the server has closed results in a reset.
  socket.on('error', () => undefined);
  socket.once('close', () => clearInterval(timer));
}

/** Of this process and those that it starts; the server has as many sockets as its clients. */
function mostOpenFiles(): number {
  const limit = execSync('ulimit -n', { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}
