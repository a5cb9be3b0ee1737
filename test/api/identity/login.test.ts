import { argon2Sync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { createAccount, createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let nowMs = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
});

afterEach(() => database.persistence.db.query('delete from login_failure'));

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const login = (body: unknown) => app.call('POST', '/login', { body });
const right = { email: ADMIN.email, password: ADMIN.password };

describe('POST /login', () => {
  it('responds with a token, the accounts and the current one, and remembers the login', async () => {
    const response = await login({ ...right, email: ADMIN.email.toUpperCase() });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.body).toEqual({
      token: expect.any(String),
      email: ADMIN.email,
      name: ADMIN.name,
      accounts: [{ name: 'standalone', title: 'Organization', default: true }],
      current_account: 'standalone',
    });
    const person = await app.call('GET', '/person', { token: response.body.token });
    expect(person.body).toMatchObject({ last_login_host: '127.0.0.1', preferred_account: 'standalone' });
    expect(Date.parse(person.body.last_login_time)).toBe(Math.floor(nowMs / 1000) * 1000);
    nowMs += 1000;
    await login(right);
    const later = await app.call('GET', '/person', { token: response.body.token });
    expect(Date.parse(later.body.last_login_time)).toBe(Math.floor(nowMs / 1000) * 1000);
  });

  it('takes what is optional as null too', async () => {
    const nothing = { identity: null, account: null, expiry_minutes: null, invitation_id: null };
    expect((await login({ ...right, ...nothing })).status).toBe(200);
    const neither = await login({ ...nothing, email: null, password: ADMIN.password });
    expect(neither.body).toMatchObject({ error: 'InvalidParameterCombination', code: 400 });
  });

  it('takes the identity instead of the address', async () => {
    expect((await login({ identity: ADMIN.email, password: ADMIN.password })).status).toBe(200);
  });

  it('LOGIN-both/neither: rejects both and neither of email and identity', async () => {
    for (const body of [{ password: 'x' }, { ...right, identity: ADMIN.email }]) {
      expect((await login(body)).body).toMatchObject({ error: 'InvalidParameterCombination', code: 400 });
    }
  });

  it('LOGIN-enum: treats an unknown name and a wrong password alike, after the same work', async () => {
    const wrong = await login({ email: ADMIN.email, password: 'wrong' });
    const unknown = await login({ email: 'nobody@fleet.example', password: 'wrong' });
    expect(wrong.body).toEqual({ error: 'AuthenticationFailed', message: expect.any(String), code: 401 });
    expect({ status: unknown.status, text: unknown.text }).toEqual({ status: wrong.status, text: wrong.text });
    expect((await login({ identity: 'nobody', password: 'wrong' })).text).toBe(wrong.text);
    const { db } = database.persistence;
    const { personId } = await createMember(db, { accountId, email: 'hashless@fleet.example', role: 'Auditor' });
    await db.query('update person set password_hash = null where id = $1', [personId]);
    const hashless = await login({ email: 'hashless@fleet.example', password: 'wrong' });
    expect({ status: hashless.status, text: hashless.text }).toEqual({ status: wrong.status, text: wrong.text });
    const names = [ADMIN.email, 'nobody@fleet.example', 'hashless@fleet.example'];
    const [known, ...others] = await Promise.all(names.map(statementsOf));
    for (const other of others) expect(other).toEqual(known);
    expect(known!.length).toBeGreaterThan(3);
  });

  it('LOGIN-long: rejects more than 1,024 bytes before any hash work', async () => {
    for (const password of ['x'.repeat(1025), 'é'.repeat(513), 'x'.repeat(1_000_000)]) {
      const response = await login({ email: ADMIN.email, password });
      expect(response.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.password' }] });
    }
    expect((await login({ email: ADMIN.email, password: 'x'.repeat(1024) })).status).toBe(401);
    expect((await login({ email: ADMIN.email, password: 'a\0b' })).status).toBe(400);
  });

  it('LOGIN-long: compares passwords in one Unicode form', async () => {
    const { db } = database.persistence;
    await createMember(db, { accountId, email: 'unicode@fleet.example', role: 'Auditor', password: 'caf\u00e9 noir' });
    for (const password of ['caf\u00e9 noir', 'cafe\u0301 noir']) {
      expect((await login({ email: 'unicode@fleet.example', password })).status).toBe(200);
    }
  });

  it('hashes a password anew when its hash was cheaper than hashes are today', async () => {
    const { db } = database.persistence;
    const { personId } = await createMember(db, { accountId, email: 'cheap@fleet.example', role: 'Auditor' });
    const hash = async () =>
      (await db.query<{ h: string }>('select password_hash as h from person where id = $1', [personId]))[0]!.h;
    const tag = argon2Sync('argon2id', {
      message: PASSWORD,
      nonce: Buffer.from('0123456789abcdef'),
      memory: 1024,
      passes: 1,
      parallelism: 1,
      tagLength: 32,
    });
    const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
    const cheap = `$argon2id$v=19$m=1024,t=1,p=1$${text(Buffer.from('0123456789abcdef'))}$${text(tag)}`;
    await db.query('update person set password_hash = $1 where id = $2', [cheap, personId]);
    const named = { email: 'cheap@fleet.example', password: PASSWORD };
    expect((await login({ ...named, password: 'wrong' })).status).toBe(401);
    expect(await hash()).toBe(cheap);
    const { token } = (await login(named)).body;
    const renewed = await hash();
    expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await login(named)).status).toBe(200);
    expect(await hash()).toBe(renewed);
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
  });

  it('EXPIRY: takes 1 to 525,600 minutes', async () => {
    for (const expiry_minutes of [0, -1, 1.5, 1e12, '60', 525_601]) {
      const response = await login({ ...right, expiry_minutes });
      expect(response.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.expiry_minutes' }] });
    }
    for (const expiry_minutes of [1, 525_600]) expect((await login({ ...right, expiry_minutes })).status).toBe(200);
  });

  it('EXPIRY: ends the token after the minutes requested', async () => {
    const { token } = (await login({ ...right, expiry_minutes: 1 })).body;
    nowMs += 59_000;
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
    nowMs += 2_000;
    expect((await app.call('GET', '/person', { token })).status).toBe(401);
  });

  it('chooses the account requested, else the preferred, else the first joined', async () => {
    const { db } = database.persistence;
    const second = await createAccount(db, 'second');
    const { personId } = await createMember(db, { accountId, email: 'both@fleet.example', role: 'Auditor' });
    await db.query(`insert into membership values ($1, $2, now() + interval '1 day')`, [second.accountId, personId]);
    const both = { email: 'both@fleet.example', password: PASSWORD };
    expect((await login(both)).body.current_account).toBe('standalone');
    expect((await login({ ...both, account: 'second' })).body).toMatchObject({
      current_account: 'second',
      accounts: [
        { name: 'standalone', default: true },
        { name: 'second', default: false },
      ],
    });
    await db.query('update person set preferred_account_id = $1 where id = $2', [second.accountId, personId]);
    expect((await login(both)).body.current_account).toBe('second');
    expect((await login({ ...right, account: 'second' })).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await login({ ...right, invitation_id: 'unknown1' })).body.error).toBe('UnknownInvitation');
    expect((await login({ ...right, invitation_id: 'no/good' })).body.error).toBe('InvalidParameter');
  });
});

describe('the login throttle', () => {
  it('LOGIN-brute: rejects the 21st failure in five minutes from one address, and lets in again after them', async () => {
    for (let guess = 0; guess < 20; guess++) await login({ email: ADMIN.email, password: `guess ${guess}` });
    const rejected = await login(right);
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(290);
    expect((await login({ email: 'other@fleet.example', password: 'x' })).status).toBe(401);
    nowMs += 5 * 60_000 + 1000;
    expect((await login(right)).status).toBe(200);
  });

  it('LOGIN-brute: rejects a name after 100 failures in an hour, but not from an address it has used', async () => {
    const { db } = database.persistence;
    const digest = `sha256(convert_to(lower($1), 'UTF8'))`;
    await db.query(`insert into login_failure select ${digest}, 'address ' || n, $2 from generate_series(1, 100) n`, [
      ADMIN.email,
      new Date(nowMs - 1000),
    ]);
    expect((await login(right)).status).toBe(200);
    await db.query(`delete from login_address where name_digest = ${digest}`, [ADMIN.email]);
    const rejected = await login(right);
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(3500);
  });

  it('LOGIN-brute: counts every form that finds the same person as one name', async () => {
    const forms = [ADMIN.email, ADMIN.email.toUpperCase(), ADMIN.email.replace('i', 'İ')];
    for (let guess = 0; guess < 21; guess++) {
      await login({ email: forms[guess % 3], password: `guess ${guess}` });
    }
    for (const email of forms) {
      expect((await login({ email, password: ADMIN.password })).body.error).toBe('TooManyRequests');
    }
  });

  it('LOGIN-brute: counts by the address that a trusted proxy reports, and never by one that a client reports', async () => {
    const settings = { trustedProxies: ['127.0.0.1'] };
    const proxied = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) }, settings });
    const from = (address: string, password: string, to = proxied) => {
      const headers = { 'x-forwarded-for': address };
      return to.call('POST', '/login', { headers, body: { email: ADMIN.email, password } });
    };
    for (let guess = 0; guess < 20; guess++) await from('198.51.100.1', `guess ${guess}`);
    expect((await from('198.51.100.1', ADMIN.password)).status).toBe(429);
    expect((await from('198.51.100.2', ADMIN.password)).status).toBe(200);
    await proxied.close();
    for (let guess = 0; guess < 20; guess++) await from(`198.51.100.${guess}`, `guess ${guess}`, app);
    expect((await from('198.51.100.77', ADMIN.password, app)).status).toBe(429);
  });

  it('can be switched off', async () => {
    const { identity } = loadConfig({ FLOTILLA_LOGIN_THROTTLE: 'false' }, 'stack');
    const open = await createTestApp(database.persistence, { settings: { identity } });
    for (let guess = 0; guess < 21; guess++) await open.call('POST', '/login', { body: { ...right, password: 'x' } });
    expect((await open.call('POST', '/login', { body: right })).status).toBe(200);
    await open.close();
  });

  it('LOGIN-storm: bounds what waits and rejects the rest, while other routes respond', async () => {
    const token = await app.login();
    const storm = Array.from({ length: 500 }, (_, n) => login({ email: `storm${n}@fleet.example`, password: `x${n}` }));
    const responses = Promise.all(storm);
    const other = app.call('GET', '/person', { token });
    expect(await Promise.race([other, responses])).toMatchObject({ status: 200 });
    const statuses = (await responses).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 503]));
    expect((await login(right)).status).toBe(200);
  });
});

/** Texts of all statements of one failed login. */
async function statementsOf(email: string): Promise<string[]> {
  const texts: string[] = [];
  const watch = <T extends Sql>(sql: T): T => ({
    ...sql,
    query: (text: string, ...rest: [(readonly unknown[])?, string?]) => {
      texts.push(text.replace(/^(rollback to|release)(?= savepoint)/, 'end'));
      return sql.query(text, ...rest);
    },
  });
  const { db } = database.persistence;
  const watched = {
    ...watch(db),
    transaction: <T>(work: (tx: Sql) => Promise<T>) => db.transaction((tx) => work(watch(tx))),
  };
  const own = await createTestApp({ ...database.persistence, db: watched as typeof db });
  texts.length = 0;
  const response = await own.call('POST', '/login', { body: { email, password: 'wrong' } });
  expect(response.status).toBe(401);
  await own.close();
  return texts;
}
