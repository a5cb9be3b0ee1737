import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { RequestMemoryLimit } from '../../../src/process/admission/request-memory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

const ERROR = 50;
const BLOB = '/usg-profiles/blob?path=report';
/** More than the connection takes while nobody reads. */
const PIECE = Buffer.alloc(8 * 1024 * 1024, 'x');

const bodies = new RequestMemoryLimit(64 * 1024 * 1024);
let database: TestDatabase;
let directory: string;
let app: TestApp;
let token: string;
let ended: Array<[operation: string, status: number]>;
/** The server's side of the connection of every request. */
let requests: Socket[];
const onRequest = (message: unknown) => void requests.push((message as { socket: Socket }).socket);

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  requests = [];
  subscribe('http.server.request.start', onRequest);
});

afterAll(async () => {
  unsubscribe('http.server.request.start', onRequest);
  await database?.drop();
});

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'flotilla-broken-'));
  const logger = createLogger({ level: 'debug', role: 'test', file: join(directory, 'log') });
  const onEnd = (operation: string, status: number) => void ended.push([operation, status]);
  ended = [];
  app = await createTestApp(database.persistence, { logger, onRequestEnd: onEnd, requestMemory: bodies });
  token = await app.login();
  ended = [];
  requests = [];
});

afterEach(async () => {
  vi.restoreAllMocks();
  await app?.close();
  rmSync(directory, { recursive: true });
});

function lines(): Array<Record<string, unknown>> {
  const text = readFileSync(join(directory, 'log'), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

/** Waits until the server has seen that the client of the latest request is gone. */
async function disconnected(): Promise<void> {
  const socket = requests.at(-1)!;
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}

const errors = () => lines().filter(({ level }) => level === ERROR);
const completedRequest = () => lines().findLast(({ msg }) => msg === 'request completed');

function serveFile(chunks: () => AsyncGenerator<Buffer>): void {
  vi.spyOn(app.services.usgReports, 'open').mockResolvedValue({ id: 1, kind: 'report', profileId: 1, size: 1, chunks });
}

/** A request whose headers are those of the administrator. */
function get(path: string) {
  return request(`${app.url}/api/v2${path}`, { headers: { authorization: `Bearer ${token}`, accept: 'text/csv' } });
}

describe('a response that breaks off', () => {
  it('is logged once as an error and counts as 500', async () => {
    serveFile(async function* () {
      yield Buffer.from('started');
      throw new Error('the file is gone');
    });
    const headers = { accept: 'text/csv', 'x-request-id': 'broken-1' };
    await expect(app.call('GET', BLOB, { token, headers })).rejects.toThrow();
    await expect.poll(() => ended).toEqual([['getUsgProfileBlob', 500]]);
    expect(errors()).toEqual([
      expect.objectContaining({
        msg: 'a response was cut off',
        requestId: 'broken-1',
        err: expect.objectContaining({ message: 'the file is gone' }),
      }),
    ]);
    expect(completedRequest()).toMatchObject({ requestId: 'broken-1', status: 500 });
  });
});

describe('a complete stream', () => {
  it('counts as 200', async () => {
    serveFile(async function* () {
      yield Buffer.from('all of it');
    });
    const result = await app.call('GET', BLOB, { token, headers: { accept: 'text/csv' } });
    expect(result.status).toBe(200);
    await expect.poll(() => ended).toEqual([['getUsgProfileBlob', 200]]);
    expect(completedRequest()).toMatchObject({ status: 200 });
  });
});

describe('a client that disconnects', () => {
  it('before the first chunk of the response counts as 499 and is no error', async () => {
    const client = get(BLOB).end();
    serveFile(async function* () {
      client.on('error', () => undefined).destroy();
      await disconnected();
      yield PIECE;
    });
    await expect.poll(() => ended).toEqual([['getUsgProfileBlob', 499]]);
    expect(errors()).toEqual([]);
  });

  it.each(['identity', 'gzip'])(
    'before its body is looked at counts as 499 and holds nothing: %s',
    async (encoding) => {
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1').on('error', () => undefined);
      const { authenticate } = app.services.authenticator;
      vi.spyOn(app.services.authenticator, 'authenticate').mockImplementation(async (...args) => {
        socket.destroy();
        await disconnected();
        return authenticate(...args);
      });
      const head = ['POST /api/v2/scripts HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`];
      head.push('Content-Type: application/json', `Content-Encoding: ${encoding}`, 'Content-Length: 100');
      socket.write([...head, '', '{"title"'].join('\r\n'));
      await expect.poll(() => ended).toEqual([['createScript', 499]]);
      expect(bodies.usedBytes).toBe(0);
    },
  );

  it('in the middle of the response counts as 499 and is no error', async () => {
    let pieces = 0;
    serveFile(async function* () {
      for (; pieces < 100; pieces++) yield PIECE;
    });
    const client = get(BLOB).end();
    client.on('error', () => undefined);
    client.once('response', (response) => response.once('data', () => client.destroy()));
    await expect.poll(() => ended).toEqual([['getUsgProfileBlob', 499]]);
    expect(pieces).toBeLessThan(100);
    expect(errors()).toEqual([]);
    expect(completedRequest()).toMatchObject({ status: 499 });
  });

  it('before the response counts as 499', async () => {
    const client = get('/person').end();
    const { getSelf } = app.services.people;
    vi.spyOn(app.services.people, 'getSelf').mockImplementation(async (caller) => {
      client.on('error', () => undefined).destroy();
      await disconnected();
      return getSelf(caller);
    });
    await expect.poll(() => ended).toEqual([['getPerson', 499]]);
    expect(errors()).toEqual([]);
    expect(completedRequest()).toMatchObject({ operation: 'getPerson', status: 499 });
  });

  it.each(['end', 'destroy'] as const)('before its request is complete counts as 499: %s', async (leave) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    const head = ['POST /api/v2/scripts HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`];
    socket.write([...head, 'Content-Type: application/json', 'Content-Length: 100', '', '{"title"'].join('\r\n'));
    await expect.poll(() => requests.length).toBe(1);
    socket[leave]();
    await expect.poll(() => ended).toEqual([['createScript', 499]]);
    expect(errors()).toEqual([]);
  });

  it('does not hide a failure of the server', async () => {
    const client = get('/person').end();
    vi.spyOn(app.services.people, 'getSelf').mockImplementation(async () => {
      client.on('error', () => undefined).destroy();
      await disconnected();
      throw new Error('a defect');
    });
    await expect.poll(() => ended).toEqual([['getPerson', 500]]);
    expect(errors()).toHaveLength(1);
  });
});
