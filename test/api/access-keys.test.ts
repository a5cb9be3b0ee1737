import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createMember } from '../support/accounts.ts';
import { createTestApp, PUBLIC_URL, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let app: TestApp;
let nowMs = Date.now();
let round = 0;
let home: string;
let accountId: number;
let personId: number;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
});

beforeEach(async () => {
  home = `home${++round}`;
  const account = await createAccount(database.persistence.db, home);
  ({ accountId, personId } = account);
  token = await app.login(account);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const make = (account = home, as = token) => app.call('POST', '/credentials', { token: as, body: { account } });
const login = (body: unknown) => app.call('POST', '/login/access-key', { body });
const pairOf = ({ access_key, secret_key }: { access_key: string; secret_key: string }) => ({ access_key, secret_key });

describe('/credentials', () => {
  it('makes a pair that is shown once', async () => {
    const empty = {
      access_key: null,
      secret_key: null,
      account_name: home,
      account_title: `Account ${home}`,
      endpoint: `${PUBLIC_URL}/api/v2`,
      exports: null,
    };
    const list = async () => (await app.call('GET', '/credentials', { token })).body;
    expect(await list()).toEqual({ credentials: [empty] });
    const made = await make();
    expect(made.status).toBe(200);
    const { access_key, secret_key } = made.body;
    expect(made.body).toEqual({
      ...empty,
      access_key: expect.stringMatching(/^[A-Z0-9]{20}$/),
      secret_key: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
      exports: `export FLOTILLA_API_URI='${PUBLIC_URL}/api/v2'\nexport FLOTILLA_API_KEY='${access_key}'\nexport FLOTILLA_API_SECRET='${secret_key}'\n`,
    });
    expect(await list()).toEqual({ credentials: [{ ...empty, access_key }] });
  });

  it('SECRET-leak: stores the secret as a digest and tells it to no log', async () => {
    const { secret_key, access_key } = (await make()).body;
    const { db } = database.persistence;
    const rows = await db.query(
      'select row_to_json(k)::text as text from access_key k union all select row_to_json(e)::text from event e',
    );
    expect(JSON.stringify(rows)).not.toContain(secret_key);
    const [event] = await db.query('select account_id, entity_type, message from event order by id desc limit 1');
    expect(event).toEqual({ account_id: accountId, entity_type: 'Credentials', message: 'Made new access keys' });
    expect((await login({ access_key, secret_key: 'x' })).text).not.toContain(access_key);
  });

  it('keeps one pair per person and account', async () => {
    const first = pairOf((await make()).body);
    const member = await createMember(database.persistence.db, {
      accountId,
      email: `m${round}@fleet.example`,
      role: 'Auditor',
    });
    const theirs = pairOf((await make(home, await app.login(member))).body);
    const second = pairOf((await make()).body);
    expect((await login(first)).body).toMatchObject({ error: 'AuthenticationFailed', code: 401 });
    expect((await login(second)).status).toBe(200);
    expect((await login(theirs)).body.email).toBe(member.email);
  });

  it('makes one pair of two calls at once', async () => {
    const pairs = (await Promise.all([make(), make()])).map(({ body }) => pairOf(body));
    const statuses = await Promise.all(pairs.map(async (pair) => (await login(pair)).status));
    expect(statuses.sort()).toEqual([200, 401]);
  });

  it('refuses accounts of others alike whether they exist, and bad values', async () => {
    await createAccount(database.persistence.db, `other${round}`);
    const foreign = await make(`other${round}`);
    expect(foreign.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await make('never')).text).toBe(foreign.text);
    for (const account of ['', 7, null]) {
      expect((await app.call('POST', '/credentials', { token, body: { account } })).body.error).toBe(
        'InvalidParameter',
      );
    }
  });

  it.each([
    ['person', () => personId],
    ['account', () => accountId],
  ])('JWT-revoked: gives no pair to a token whose %s ended it a moment ago', async (table, id) => {
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
    await database.persistence.db.query(`update ${table} set token_epoch = token_epoch + 1 where id = $1`, [id()]);
    expect((await make()).body.error).toBe('Unauthorized');
    expect(await database.persistence.db.query('select 1 from access_key where person_id = $1', [personId])).toEqual(
      [],
    );
  });
});

describe('POST /login/access-key', () => {
  it('answers as a login, with the account of the pair as the current one', async () => {
    const { db } = database.persistence;
    const second = await createAccount(db, `second${round}`);
    await db.query(`insert into membership values ($1, $2, now() + interval '1 day')`, [second.accountId, personId]);
    const pair = pairOf((await make(`second${round}`)).body);
    const answer = await login(pair);
    expect(answer.body).toMatchObject({
      email: `${home}@fleet.example`,
      current_account: `second${round}`,
      accounts: [
        { name: home, default: true },
        { name: `second${round}`, default: false },
      ],
    });
    const claims = jwt.decode(answer.body.token) as { exp: number; iat: number };
    expect(claims.exp - claims.iat).toBe(1440 * 60);
    expect((await app.call('GET', '/person', { token: answer.body.token })).status).toBe(200);
  });

  it('EXPIRY: takes 1 to 525,600 minutes', async () => {
    const pair = pairOf((await make()).body);
    for (const expiry_minutes of [0, -1, 1.5, 1e12, '60', 525_601]) {
      expect((await login({ ...pair, expiry_minutes })).body.error).toBe('InvalidParameter');
    }
    const { token: short } = (await login({ ...pair, expiry_minutes: 1 })).body;
    nowMs += 61_000;
    expect((await app.call('GET', '/person', { token: short })).status).toBe(401);
  });

  it('LOGIN-enum: answers an unknown key and a wrong secret alike', async () => {
    const { access_key } = (await make()).body;
    const wrong = await login({ access_key, secret_key: 'x'.repeat(40) });
    const unknown = await login({ access_key: 'A'.repeat(20), secret_key: 'x'.repeat(40) });
    expect(wrong.body).toMatchObject({ error: 'AuthenticationFailed', code: 401 });
    expect(unknown.text).toBe(wrong.text);
    expect((await login({ access_key, secret_key: 'x'.repeat(1025) })).status).toBe(400);
    expect((await login({ access_key })).status).toBe(400);
  });

  it('LOGIN-brute: throttles guesses of a secret', async () => {
    const pair = pairOf((await make()).body);
    for (let guess = 0; guess < 20; guess++) await login({ ...pair, secret_key: `guess ${guess}` });
    expect((await login(pair)).body).toMatchObject({ error: 'TooManyRequests', code: 429 });
  });

  it('JWT-revoked: ends with the membership', async () => {
    const { db } = database.persistence;
    const member = await createMember(db, { accountId, email: `leaver${round}@fleet.example`, role: 'Auditor' });
    const pair = pairOf((await make(home, await app.login(member))).body);
    await db.query('delete from membership where person_id = $1', [member.personId]);
    expect((await login(pair)).status).toBe(401);
  });
});
