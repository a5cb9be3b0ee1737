import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

/** So many that most are rejected, however many of the first are hashed while the last arrive. */
const STORM = 200;

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  app = await createTestApp(database.persistence, { settings: { trustedProxies: ['127.0.0.1'] } });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const login = (from: string, email: string, password: string) =>
  app.call('POST', '/login', { body: { email, password }, headers: { 'x-forwarded-for': from } });

describe('POST /login', () => {
  it('lets an address in at once while another has many that wait', async () => {
    const responses: Array<{ status: number; retryAfter: string | null }> = [];
    const storm = Array.from({ length: STORM }, async (_, n) => {
      const { status, headers } = await login('192.0.2.1', `storm${n}@fleet.example`, `x${n}`);
      responses.push({ status, retryAfter: headers.get('retry-after') });
    });
    const hashed = () => responses.filter(({ status }) => status === 401).length;
    // As many wait as may.
    await expect.poll(() => responses.some(({ status }) => status === 503), { interval: 1 }).toBe(true);
    const before = hashed();
    expect((await login('192.0.2.2', ADMIN.email, ADMIN.password)).status).toBe(200);
    const passed = hashed() - before;
    await Promise.all(storm);
    expect(passed).toBeLessThan((hashed() - before) / 2);
    const rejected = responses.filter(({ status }) => status !== 401);
    expect(rejected.length).toBeGreaterThan(STORM / 4);
    expect(new Set(rejected.map(({ status, retryAfter }) => `${status} after ${retryAfter}`))).toEqual(
      new Set(['503 after 1']),
    );
  });
});
