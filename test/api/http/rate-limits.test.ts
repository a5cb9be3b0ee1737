import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const BURST = 5;
let database: TestDatabase;
let app: TestApp;
let nowMs: number;

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
});
afterAll(() => database?.drop());

beforeEach(async () => {
  await app?.close();
  nowMs = Date.now();
  app = await createTestApp(database.persistence, {
    clock: { now: () => new Date(nowMs) },
    settings: { traffic: { api: { perSecond: 2, burst: BURST }, enrolment: null, maxWaiting: 10 } },
  });
});
afterAll(() => app?.close());

async function statuses(count: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await call()).status);
  return seen;
}

const ok = (count: number): number[] => Array<number>(count).fill(200);

describe('the rate of a token', () => {
  it('allows n requests at once and rejects the next with the error body', async () => {
    const token = await app.login();
    const read = () => app.call('GET', '/person', { token });
    expect(await statuses(BURST, read)).toEqual(ok(BURST));
    const rejected = await read();
    expect(rejected).toMatchObject({
      status: 429,
      body: { error: 'TooManyRequests', message: 'Too many requests; try again later', code: 429 },
    });
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(rejected.headers.get('x-request-id')).toBeTruthy();
    nowMs += 1000;
    expect(await statuses(3, read)).toEqual([200, 200, 429]);
  });

  it('is separate for each token', async () => {
    const [busy, calm] = [await app.login(), await app.login()];
    await statuses(BURST + 1, () => app.call('GET', '/person', { token: busy }));
    expect((await app.call('GET', '/person', { token: busy })).status).toBe(429);
    expect((await app.call('GET', '/person', { token: calm })).status).toBe(200);
  });

  it('applies before the body is read, and nothing is changed', async () => {
    const token = await app.login();
    await statuses(BURST, () => app.call('GET', '/person', { token }));
    const response = await app.call('POST', '/person', { token, raw: '{ not JSON' });
    expect(response.status).toBe(429);
    nowMs += 60_000;
    expect((await app.call('GET', '/person', { token })).body.name).toBe('Admin One');
  });
});

describe('the rate of an address', () => {
  it('applies to calls without a token', async () => {
    const look = () => app.call('GET', '/standalone-account');
    expect(await statuses(BURST + 1, look)).toEqual([...ok(BURST), 429]);
    expect((await app.call('POST', '/login', { body: { email: 'a@b.example', password: 'x' } })).status).toBe(429);
  });

  it('applies to invalid tokens, but not to a valid one from the same address', async () => {
    const token = await app.login();
    const guess = () => app.call('GET', '/person', { token: 'eyJhbGciOiJIUzI1NiJ9.e30.x' });
    expect(await statuses(BURST, guess)).toEqual([...Array<number>(BURST - 1).fill(401), 429]);
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
  });

  it('applies to tokens of a disabled account', async () => {
    const token = await app.login();
    const { db } = database.persistence;
    await db.query('update account set disabled = true');
    try {
      const request = () => app.call('GET', '/person', { token });
      expect(await statuses(BURST, request)).toEqual([...Array<number>(BURST - 1).fill(403), 429]);
    } finally {
      await db.query('update account set disabled = false');
    }
  });

  it('does not apply to health checks and documentation', async () => {
    await statuses(BURST + 1, () => app.call('GET', '/standalone-account'));
    expect(await statuses(3, () => app.call('GET', '/healthz'))).toEqual(ok(3));
    expect((await app.call('GET', '/openapi.json')).status).toBe(200);
  });
});

describe('the settings of rates', () => {
  const NEEDED = {
    FLOTILLA_DATABASE_URL: 'postgres://127.0.0.1/x',
    FLOTILLA_TEMPORAL_ADDRESS: '127.0.0.1:7233',
    FLOTILLA_JWT_SECRET: 'x'.repeat(32),
    FLOTILLA_ENCRYPTION_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  };

  it('are off in the embedded stack and on in separate processes', () => {
    expect(loadConfig({}, 'stack').traffic).toMatchObject({ api: null, enrolment: null });
    expect(loadConfig({ ...NEEDED, FLOTILLA_EMBEDDED: 'true' }, 'process').traffic).toMatchObject({
      api: null,
      enrolment: null,
    });
    expect(loadConfig(NEEDED, 'process').traffic).toMatchObject({
      api: { perSecond: 100, burst: 200 },
      enrolment: { perSecond: 10, burst: 100 },
    });
  });

  it('can be set everywhere', () => {
    const env = { FLOTILLA_API_RATE_LIMIT: '0.5', FLOTILLA_API_RATE_BURST: '7', FLOTILLA_ENROLMENT_RATE_LIMIT: '3' };
    expect(loadConfig(env, 'stack').traffic).toMatchObject({
      api: { perSecond: 0.5, burst: 7 },
      enrolment: { perSecond: 3, burst: 30 },
    });
    expect(loadConfig({ ...NEEDED, FLOTILLA_API_RATE_LIMIT: '0' }, 'process').traffic.api).toBeNull();
    expect(() => loadConfig({ FLOTILLA_API_RATE_BURST: '0' }, 'stack')).toThrow('FLOTILLA_API_RATE_BURST');
  });
});
