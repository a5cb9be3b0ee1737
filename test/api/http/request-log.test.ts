import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

const PINO_LEVELS = { debug: 20, info: 30 };
const TRACE_ID = '0123456789abcdef0123456789abcdef';

let database: TestDatabase;
let admin: { accountId: number; personId: number };
let directory: string;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  admin = await createAdmin(database.persistence);
});

afterAll(() => database?.drop());

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'flotilla-requests-'));
});

afterEach(async () => {
  await app?.close();
  rmSync(directory, { recursive: true });
});

async function serve(level: string): Promise<string> {
  const logger = createLogger({ level, role: 'test', file: join(directory, 'log') });
  app = await createTestApp(database.persistence, { logger });
  return app.login();
}

const text = () => readFileSync(join(directory, 'log'), 'utf8');

function completedRequests(): Array<Record<string, unknown>> {
  const lines = text().trimEnd().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'request completed');
}

describe('the log line of a request', () => {
  it('has request, trace, operation, status and caller, but no content', async () => {
    const token = await serve('debug');
    const body = { title: 'canary title', code: '#!/bin/sh\n# canary code\ntrue', time_limit: 10, username: 'root' };
    const headers = { traceparent: `00-${TRACE_ID}-0123456789abcdef-01` };
    const made = await app.call('POST', '/scripts', { token, body, headers });
    await app.call('GET', '/computers?query=canary', { token });
    const [login, post, get] = completedRequests();
    expect(login).toMatchObject({ level: PINO_LEVELS.info, operation: 'login', status: 200 });
    expect(login).not.toHaveProperty('personId');
    expect(post).toMatchObject({
      level: PINO_LEVELS.info,
      requestId: made.headers.get('x-request-id'),
      trace_id: TRACE_ID,
      operation: 'createScript',
      status: 201,
      durationMs: expect.any(Number),
      ...admin,
    });
    expect(get).toMatchObject({ level: PINO_LEVELS.debug, operation: 'listComputers', status: 200, ...admin });
    for (const secret of ['canary', token, ADMIN.password, ADMIN.email, ADMIN.name])
      expect(text()).not.toContain(secret);
  });

  it('is below info for reads and unauthenticated failures', async () => {
    const token = await serve('info');
    await app.call('GET', '/computers', { token });
    await app.call('POST', '/scripts', { body: {} });
    await app.call('POST', '/nowhere', { body: {} });
    await app.call('POST', '/login', { body: { email: ADMIN.email, password: 'wrong' } });
    const rejected = await app.call('POST', '/scripts', { token, body: {} });
    expect(completedRequests().map(({ operation, status }) => [operation, status])).toEqual([
      ['login', 200],
      ['createScript', 400],
    ]);
    expect(completedRequests()[1]).toMatchObject({ requestId: rejected.headers.get('x-request-id') });
  });
});
