import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createAccount, createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const LIMIT = 20;

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
let nowMs = Date.now();
let round = 0;

const clock = { now: () => new Date(nowMs) };
const settingsOf = (env: Record<string, string> = {}) => ({
  trustedProxies: ['127.0.0.1'],
  identity: loadConfig(
    { FLOTILLA_LOGIN_ADDRESS_LIMIT: String(LIMIT), FLOTILLA_SELF_SERVICE_ACCOUNTS: 'true', ...env },
    'stack',
  ).identity,
});

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence, { clock, settings: settingsOf() });
  admin = await app.login();
});

afterEach(() => database.persistence.db.query('delete from login_failure'));

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const from = (address: string, body: object, path = '/login', token?: string) =>
  app.call('POST', path, { headers: { 'x-forwarded-for': address }, body, token: token ?? null });
const guess = (address: string) => from(address, { email: `name${++round}@fleet.example`, password: 'x' });
async function guesses(count: number, address: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await guess(address)).status);
  return statuses;
}
const failing = (count: number, status = 401): number[] => Array<number>(count).fill(status);
const newcomer = async (address: string) => {
  const email = `new${++round}@fleet.example`;
  const body = { name: 'New', email };
  const { secure_id } = (await app.call('POST', '/invitations', { token: admin, body })).body;
  return from(address, { email, password: 'my own words', invitation_id: secure_id });
};

describe('the budget of an address', () => {
  it('LOGIN-spray: is spent by failed logins with ever other names, and comes back after five minutes', async () => {
    expect(await guesses(LIMIT + 2, '198.51.100.1')).toEqual([...failing(LIMIT), 429, 429]);
    const rejected = await from('198.51.100.1', { email: ADMIN.email, password: ADMIN.password });
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(rejected.body.message).toContain('this address');
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(290);
    expect((await from('198.51.100.2', { email: ADMIN.email, password: ADMIN.password })).status).toBe(200);
    nowMs += 5 * 60_000 + 1000;
    expect((await from('198.51.100.1', { email: ADMIN.email, password: ADMIN.password })).status).toBe(200);
  });

  it('LOGIN-spray: is one for logins with passwords and with access keys', async () => {
    await guesses(LIMIT / 2, '198.51.100.3');
    const byKey = (n: number) => from('198.51.100.3', { access_key: `KEY${n}`, secret_key: 'x' }, '/login/access-key');
    for (let n = 0; n < LIMIT / 2; n++) expect((await byKey(n)).status).toBe(401);
    expect((await byKey(LIMIT)).status).toBe(429);
    expect((await guess('198.51.100.3')).status).toBe(429);
  });

  it('locks nobody out who has logged in from there before', async () => {
    const right = { email: ADMIN.email, password: ADMIN.password };
    expect((await from('198.51.100.4', right)).status).toBe(200);
    await guesses(LIMIT + 1, '198.51.100.4');
    expect((await from('198.51.100.4', right)).status).toBe(200);
    expect((await from('198.51.100.4', { ...right, password: 'wrong' })).status).toBe(401);
  });

  it('is one for an IPv6 network of a host, and so are all budgets of logins', async () => {
    expect(await guesses(LIMIT, '2001:db8:1:2::1')).toEqual(failing(LIMIT));
    expect((await guess('2001:db8:1:2:ffff::77')).status).toBe(429);
    expect((await guess('2001:db8:1:3::1')).status).toBe(401);
    await database.persistence.db.query('delete from login_failure');
    for (let n = 0; n < 20; n++) await from(`2001:db8:5:6::${n + 1}`, { email: ADMIN.email, password: 'wrong' });
    expect((await from('2001:db8:5:6::99', { email: ADMIN.email, password: ADMIN.password })).status).toBe(429);
  });

  it('is spent by people who join, too', async () => {
    const statuses: number[] = [];
    for (let n = 0; n <= LIMIT; n++) statuses.push((await newcomer('198.51.100.5')).status);
    expect(statuses).toEqual([...failing(LIMIT, 200), 429]);
    expect((await newcomer('198.51.100.6')).status).toBe(200);
  });

  it('is spent by accounts that people make, too', async () => {
    const { db } = database.persistence;
    const tokens: string[] = [];
    for (let n = 0; n <= 3; n++) {
      const member = await createMember(db, { accountId, email: `maker${n}@fleet.example`, role: 'Auditor' });
      await db.query('delete from membership where person_id = $1', [member.personId]);
      tokens.push(await app.login(member));
    }
    await guesses(LIMIT - 3, '198.51.100.7');
    const statuses: number[] = [];
    for (const token of tokens) statuses.push((await from('198.51.100.7', { title: 'T' }, '/accounts', token)).status);
    expect(statuses).toEqual([201, 201, 201, 429]);
  });

  it('is spent by attempts to make the first account, too', async () => {
    const fresh = await createTestDatabase();
    const first = await createTestApp(fresh.persistence, { clock, settings: settingsOf() });
    for (let n = 0; n < LIMIT; n++) {
      await first.call('POST', '/login', { body: { email: `a${n}@fleet.example`, password: 'x' } });
    }
    const rejected = await first.call('POST', '/standalone-account', { body: ADMIN });
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(await fresh.persistence.db.query('select 1 from account')).toEqual([]);
    nowMs += 5 * 60_000 + 1000;
    expect((await first.call('POST', '/standalone-account', { body: ADMIN })).status).toBe(201);
    await first.close();
    await fresh.drop();
  });

  it('is off with the throttle', async () => {
    const settings = settingsOf({ FLOTILLA_LOGIN_THROTTLE: 'false' });
    const open = await createTestApp(database.persistence, { clock, settings });
    const account = await createAccount(database.persistence.db, 'open');
    for (let n = 0; n <= LIMIT; n++) {
      await open.call('POST', '/login', { body: { email: `b${n}@fleet.example`, password: 'x' } });
    }
    expect(await open.login({ email: account.email, password: PASSWORD })).toBeTruthy();
    await open.close();
  });
});
