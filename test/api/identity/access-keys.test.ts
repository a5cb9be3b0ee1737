import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { createTestApp, PUBLIC_URL, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

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

const make = (more: object = {}, as = token) =>
  app.call('POST', '/credentials', { token: as, body: { account: home, password: PASSWORD, ...more } });
const list = async (as = token) => (await app.call('GET', '/credentials', { token: as })).body.credentials;
const remove = (accessKey: string, as = token) => app.call('DELETE', `/credentials/${accessKey}`, { token: as });
const login = (body: unknown) => app.call('POST', '/login/access-key', { body });
const pairOf = ({ access_key, secret_key }: { access_key: string; secret_key: string }) => ({ access_key, secret_key });

describe('/credentials', () => {
  it('makes an access key whose secret is shown once', async () => {
    const empty = {
      access_key: null,
      secret_key: null,
      account_name: home,
      account_title: `Account ${home}`,
      endpoint: `${PUBLIC_URL}/api/v2`,
      exports: null,
      name: null,
      creation_time: null,
      expires_at: null,
      last_used_at: null,
    };
    expect(await list()).toEqual([empty]);
    const made = await make();
    expect(made.status).toBe(200);
    const { access_key, secret_key } = made.body;
    expect(made.body).toEqual({
      ...empty,
      access_key: expect.stringMatching(/^[A-Z0-9]{20}$/),
      secret_key: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
      exports: `export FLOTILLA_API_URI='${PUBLIC_URL}/api/v2'\nexport FLOTILLA_API_KEY='${access_key}'\nexport FLOTILLA_API_SECRET='${secret_key}'\n`,
      name: 'Access key',
      creation_time: expect.stringMatching(/Z$/),
    });
    expect(await list()).toEqual([{ ...made.body, secret_key: null, exports: null }]);
  });

  it('SECRET-leak: stores the secret as a digest and logs it nowhere', async () => {
    const { secret_key, access_key } = (await make()).body;
    const { db } = database.persistence;
    const rows = await db.query(
      'select row_to_json(k)::text as text from credential k union all select row_to_json(e)::text from event e',
    );
    expect(JSON.stringify(rows)).not.toContain(secret_key);
    const [event] = await db.query('select account_id, entity_type, message from event order by id desc limit 1');
    expect(event).toEqual({
      account_id: accountId,
      entity_type: 'Credentials',
      message: 'Made the access key Access key',
    });
    expect((await login({ access_key, secret_key: 'x' })).text).not.toContain(access_key);
  });

  it('makes several of one person for one account, each with a name of its own', async () => {
    const keys = [(await make()).body, (await make()).body, (await make({ name: ' Backups ' })).body];
    const { body } = await make({ name: 'Access key 2' });
    expect(body).toMatchObject({ error: 'DuplicateAccessKey', code: 409 });
    expect(keys.map(({ name }) => name)).toEqual(['Access key', 'Access key 2', 'Backups']);
    expect((await list()).map((key: { name: string }) => key.name).sort()).toEqual([
      'Access key',
      'Access key 2',
      'Backups',
    ]);
    for (const key of keys) expect((await login(pairOf(key))).status).toBe(200);
    const both = await Promise.all([make(), make()]);
    expect(both.map(({ body: made }) => made.name).sort()).toEqual(['Access key 3', 'Access key 4']);
  });

  it('makes 50 of one person for one account at most', async () => {
    const { db } = database.persistence;
    await db.query(
      `insert into credential (access_key, account_id, person_id, name, secret_digest)
       select 'KEY' || $2::int || n, $1, $2::int, 'Key ' || n, '\\x00' from generate_series(1, 49) n`,
      [accountId, personId],
    );
    expect((await make()).status).toBe(200);
    expect((await make()).body).toMatchObject({ error: 'AccessKeyLimitReached', code: 400 });
    expect(await list()).toHaveLength(50);
  });

  it('needs the password, and throttles guesses as logins', async () => {
    for (const password of [undefined, null, 7, 'x'.repeat(1025)]) {
      expect((await make({ password })).body).toMatchObject({ error: 'InvalidParameter' });
    }
    for (let guess = 0; guess < 20; guess++) {
      expect((await make({ password: `guess ${guess}` })).body).toMatchObject({
        error: 'AuthenticationFailed',
        code: 401,
      });
    }
    expect((await make()).body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect((await list())[0].access_key).toBeNull();
  });

  it('rejects people who have no password', async () => {
    await database.persistence.db.query('update person set password_hash = null where id = $1', [personId]);
    expect((await make()).body.error).toBe('AuthenticationFailed');
  });

  it('reports when a key was last used', async () => {
    const pair = pairOf((await make()).body);
    nowMs += 60_000;
    await login({ ...pair, secret_key: 'wrong' });
    expect((await list())[0].last_used_at).toBeNull();
    await login(pair);
    expect(Date.parse((await list())[0].last_used_at)).toBe(Math.floor(nowMs / 1000) * 1000);
  });

  it('removes one key, and every token obtained with it ends within five seconds', async () => {
    const [removed, kept] = [(await make()).body, (await make()).body];
    const tokens = [(await login(pairOf(removed))).body.token, (await login(pairOf(kept))).body.token];
    const response = await remove(removed.access_key);
    expect([response.status, response.text]).toEqual([204, '']);
    expect((await login(pairOf(removed))).status).toBe(401);
    nowMs += 5000;
    expect((await app.call('GET', '/person', { token: tokens[0] })).body.error).toBe('Unauthorized');
    expect((await app.call('GET', '/person', { token: tokens[1] })).status).toBe(200);
    expect((await list()).map((key: { access_key: string }) => key.access_key)).toEqual([kept.access_key]);
    expect((await remove(removed.access_key)).body).toMatchObject({ error: 'UnknownAccessKey', code: 404 });
    const [event] = await database.persistence.db.query('select message from event order by id desc limit 1');
    expect(event).toEqual({ message: 'Removed the access key Access key' });
  });

  it('removes no key of somebody else', async () => {
    const { access_key } = (await make()).body;
    const { db } = database.persistence;
    const member = await createMember(db, { accountId, email: `m${round}@fleet.example`, role: 'GlobalAdmin' });
    const rejected = await remove(access_key, await app.login(member));
    expect(rejected.body).toMatchObject({ error: 'UnknownAccessKey', code: 404 });
    expect(await list()).toHaveLength(1);
  });

  it('is good until the moment that was given, and so are its tokens', async () => {
    for (const expires_at of ['2020-01-01', 'tomorrow', '2030-02-30', 7]) {
      expect((await make({ expires_at })).body.error).toBe('InvalidParameter');
    }
    const expires_at = new Date(Math.floor(nowMs / 1000) * 1000 + 120_000).toISOString().replace('.000', '');
    const made = (await make({ expires_at })).body;
    expect(made.expires_at).toBe(expires_at);
    const { token: short } = (await login(pairOf(made))).body;
    nowMs += 100_000;
    expect((await app.call('GET', '/person', { token: short })).status).toBe(200);
    nowMs += 20_000;
    expect((await app.call('GET', '/person', { token: short })).status).toBe(401);
    expect((await login(pairOf(made))).body.error).toBe('AuthenticationFailed');
    expect((await list())[0]).toMatchObject({ access_key: made.access_key, expires_at });
  });

  it('rejects accounts of others alike whether they exist, and bad values', async () => {
    await createAccount(database.persistence.db, `other${round}`);
    const foreign = await make({ account: `other${round}` });
    expect(foreign.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await make({ account: 'never' })).text).toBe(foreign.text);
    for (const account of ['', 7, null]) {
      expect((await make({ account })).body.error).toBe('InvalidParameter');
    }
  });

  it.each([
    ['person', () => personId],
    ['account', () => accountId],
  ])('JWT-revoked: gives no access key to a token whose %s ended it a moment ago', async (table, id) => {
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
    await database.persistence.db.query(`update ${table} set token_epoch = token_epoch + 1 where id = $1`, [id()]);
    expect((await make()).body.error).toBe('Unauthorized');
    expect(await database.persistence.db.query('select 1 from credential where person_id = $1', [personId])).toEqual(
      [],
    );
  });
});

describe('POST /login/access-key', () => {
  it('responds like a login, with the account of the access key as the current one', async () => {
    const { db } = database.persistence;
    const second = await createAccount(db, `second${round}`);
    await db.query(`insert into membership values ($1, $2, now() + interval '1 day')`, [second.accountId, personId]);
    const pair = pairOf((await make({ account: `second${round}` })).body);
    const response = await login(pair);
    expect(response.body).toMatchObject({
      email: `${home}@fleet.example`,
      current_account: `second${round}`,
      accounts: [
        { name: home, default: true },
        { name: `second${round}`, default: false },
      ],
    });
    const claims = jwt.decode(response.body.token) as { exp: number; iat: number };
    expect(claims.exp - claims.iat).toBe(1440 * 60);
    expect((await app.call('GET', '/person', { token: response.body.token })).status).toBe(200);
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

  it('LOGIN-enum: treats an unknown key and a wrong secret alike', async () => {
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
    const pair = pairOf((await make({}, await app.login(member))).body);
    await db.query('delete from membership where person_id = $1', [member.personId]);
    expect((await login(pair)).status).toBe(401);
  });
});
