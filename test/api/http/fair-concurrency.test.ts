import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

let database: TestDatabase;
let app: TestApp;
let busy: string;
let calm: string;
let holder: PoolClient;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  await createAdmin(database.persistence);
  const other = await createAccount(db, 'other');
  app = await createTestApp(database.persistence, {
    concurrency: { concurrency: 3, concurrencyPerKey: 2, maxQueued: 4, maxQueuedPerKey: 2 },
  });
  busy = await app.login();
  calm = await app.login(other);
  for (const token of [busy, calm]) await app.call('GET', '/person', { token });
  holder = await db.connect();
});

afterAll(async () => {
  holder?.release();
  await app?.close();
  await database?.drop();
});

it('lets calls of another account overtake waiting ones, and rejects calls beyond the queue limit', async () => {
  await holder.query('begin; lock table computer in access exclusive mode');
  const held = Array.from({ length: 4 }, () => app.call('GET', '/computers', { token: busy }));
  // The slots and the queue of the account are full once one more is rejected.
  let rejected = await app.call('GET', '/person', { token: busy });
  for (let i = 0; rejected.status !== 503 && i < 200; i++) rejected = await app.call('GET', '/person', { token: busy });
  expect(rejected).toMatchObject({ status: 503, body: { error: 'ServiceUnavailable', code: 503 } });
  expect(rejected.headers.get('retry-after')).toBe('1');
  expect((await app.call('GET', '/person', { token: calm })).status).toBe(200);
  await holder.query('rollback');
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await app.call('GET', '/person', { token: busy })).status).toBe(200);
});
