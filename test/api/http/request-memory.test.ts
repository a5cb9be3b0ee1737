import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RequestMemoryLimit } from '../../../src/process/admission/request-memory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

const KIB = 1024;
const LIMIT = 4 * 1024 * KIB;
const SHARE = LIMIT / 4;
const LARGE = 200 * KIB;
const LOGIN = { email: ADMIN.email, password: 'wrong' };

let database: TestDatabase;
let app: TestApp;
let token: string;
const bodies = new RequestMemoryLimit(LIMIT);
const sockets: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  const settings = { trustedProxies: ['127.0.0.1'] };
  app = await createTestApp(database.persistence, { requestMemory: bodies, settings });
  token = await app.login();
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => bodies.usedBytes).toBe(0);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** Starts requests, each of which holds the last byte of its body back; there once the server has the others. */
async function fill(from: string, bytes: number, auth = ''): Promise<Socket[]> {
  const before = bodies.usedBytes;
  const started: Socket[] = [];
  for (let left = bytes; left > 0; left -= LARGE) {
    const body = paddedTo(Math.min(left, LARGE));
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1').on('error', () => undefined);
    const head = `POST /api/v2/login HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n${auth}`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
    started.push(socket);
  }
  sockets.push(...started);
  await expect.poll(() => bodies.usedBytes - before).toBeGreaterThanOrEqual(bytes - started.length);
  return started;
}

const paddedTo = (bytes: number) => {
  const text = JSON.stringify(LOGIN);
  return `{${' '.repeat(Math.max(0, bytes - text.length))}${text.slice(1)}`;
};

const login = (from: string, bytes: number) =>
  app.call('POST', '/login', { raw: paddedTo(bytes), headers: { 'x-forwarded-for': from } });

const create = (from: string, bytes: number) =>
  app.call('POST', '/saved-searches', {
    token,
    body: { name: 'a', title: 'a', search: 'x'.repeat(bytes) },
    headers: { 'x-forwarded-for': from },
  });

describe('request memory', () => {
  it('is limited per address: large bodies are rejected there, small ones and those of others accepted', async () => {
    const held = await fill('192.0.2.1', 0.85 * SHARE);
    const rejected = await login('192.0.2.1', LARGE);
    expect(rejected).toMatchObject({ status: 503, body: { error: 'ServiceUnavailable', code: 503 } });
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(rejected.headers.get('connection')).toBe('close');
    expect((await login('192.0.2.1', 16 * KIB)).status).toBe(401);
    expect((await login('192.0.2.2', LARGE)).status).toBe(401);
    const [response] = await Promise.all([once(held[0]!, 'data'), held[0]!.write('}')]);
    expect(String(response[0])).toMatch(/^HTTP\/1.1 401 /);
    for (const socket of held) socket.destroy();
    await expect.poll(async () => (await login('192.0.2.1', LARGE)).status).toBe(401);
  });

  it('counts an IPv6 network as one address', async () => {
    await fill('2001:db8::1', 0.85 * SHARE);
    expect((await login('2001:db8::2', LARGE)).status).toBe(503);
    expect((await login('2001:db8:0:1::2', LARGE)).status).toBe(401);
  });

  it('reserves half for authenticated requests, from however many addresses others come', async () => {
    for (const n of [1, 2, 3, 4]) await fill(`192.0.2.${n}`, 0.44 * SHARE);
    expect((await login('192.0.2.9', LARGE)).status).toBe(503);
    expect((await login('192.0.2.9', 16 * KIB)).status).toBe(401);
    // The service rejects so long a search.
    expect((await create('192.0.2.9', LARGE)).status).toBe(400);
  });

  it('is released however the request ends', async () => {
    const outcomes = [
      await login('192.0.2.1', LARGE),
      await app.call('POST', '/login', { raw: '{', headers: {} }),
      await app.call('POST', '/login', { raw: paddedTo(3 * 1024 * KIB) }),
      await app.call('POST', '/login', { raw: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } }),
      await app.call('POST', '/login', { raw: '{}', headers: { 'content-encoding': 'gzip' } }),
      await app.call('POST', '/login', { raw: '{}', headers: { 'content-encoding': 'unknown' } }),
      await create('192.0.2.1', KIB),
      await app.call('GET', '/person', { token }),
    ];
    expect(outcomes.map(({ status }) => status)).toEqual([401, 400, 413, 400, 400, 415, 201, 200]);
    expect(bodies.usedBytes).toBe(0);
  });

  it('counts the decompressed size', async () => {
    const raw = gzipSync(paddedTo(LARGE * 3));
    const headers = { 'content-encoding': 'gzip', 'x-forwarded-for': '192.0.2.1' };
    expect((await app.call('POST', '/login', { raw, headers })).status).toBe(503);
    expect((await login('192.0.2.1', 3 * LARGE)).status).toBe(401);
  });

  it('closes a connection whose body is rejected while it arrives', async () => {
    const held = await fill('192.0.2.1', 0.8 * SHARE);
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const head = 'POST /api/v2/login HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n';
    socket.write(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const size = LARGE.toString(16);
    socket.write(`${size}\r\n${'x'.repeat(LARGE)}\r\n${size}\r\n`);
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1.1 503 /);
    await once(socket, 'close');
    for (const other of held) expect(other.closed).toBe(false);
  });
});
