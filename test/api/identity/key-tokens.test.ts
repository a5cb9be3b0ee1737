import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, PASSWORD } from '../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, JWT_SECRET, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let round = 0;
let home: string;
let personId: number;
let email: string;
let token: string;
let keyToken: string;
let pair: { access_key: string; secret_key: string };

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  app = await createTestApp(database.persistence, { deployment: 'saas' });
});

beforeEach(async () => {
  home = `home${++round}`;
  const account = await createAccount(database.persistence.db, home);
  ({ personId, email } = account);
  token = await app.login(account);
  pair = await makeKey();
  keyToken = await loginByKey();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const call = (method: string, path: string, body?: unknown, as = keyToken) =>
  app.call(method, path, { token: as, body });
async function makeKey(account = home) {
  const { access_key, secret_key } = (await call('POST', '/credentials', { account, password: PASSWORD }, token)).body;
  return { access_key, secret_key };
}
const byKey = () => app.call('POST', '/login/access-key', { body: pair });
const loginByKey = async (): Promise<string> => (await byKey()).body.token;
const claimsOf = (of: string) => jwt.decode(of) as Record<string, unknown>;

describe('a token', () => {
  it('names its login method, after a change of account too', async () => {
    expect(claimsOf(token)).toMatchObject({ amr: ['pwd'] });
    expect(claimsOf(keyToken)).toMatchObject({ amr: ['key'], key: pair.access_key });
    const switched = (await call('POST', '/switch-account', { account_name: home }, token)).body.token;
    expect(claimsOf(switched)).toMatchObject({ amr: ['pwd'] });
  });

  it('without a login method counts as one of a login with a password, and one with an unknown method is invalid', async () => {
    const { amr: _, ...older } = claimsOf(keyToken);
    const { iat: __, ...claims } = older;
    expect((await call('POST', '/person', { name: 'Older' }, jwt.sign(claims, JWT_SECRET))).status).toBe(200);
    for (const amr of [['sms'], [], ['pwd', 'key'], 'pwd', [7], null]) {
      expect((await call('GET', '/person', undefined, jwt.sign({ ...claims, amr }, JWT_SECRET))).status).toBe(401);
    }
  });
});

describe('a token from an access key', () => {
  const REJECTED: ReadonlyArray<[string, string, unknown]> = [
    ['POST', '/switch-account', { account_name: 'standalone' }],
    ['POST', '/credentials', { account: 'standalone', password: PASSWORD }],
    ['DELETE', '/credentials/AAAAAAAAAAAAAAAAAAAA', undefined],
    ['POST', '/person', { name: 'Somebody else' }],
    ['POST', '/person:confirm-email', { token: 'x'.repeat(40) }],
    ['POST', '/administrators/1:confirm-email', { email: 'somebody@fleet.example' }],
    ['PUT', '/password', { password: PASSWORD, new_password: 'battery staple' }],
    ['POST', '/accounts', { title: 'Mine' }],
    ['POST', '/accept-invitation', { invitation_id: 'x'.repeat(30) }],
    ['POST', '/reject-invitation', { invitation_id: 'x'.repeat(30) }],
    ['POST', '/tokens/invalidate-me', undefined],
    ['POST', '/tokens/invalidate-system', undefined],
    ['POST', '/tokens/invalidate-system/account/standalone', undefined],
  ];

  it.each(REJECTED)('may not call %s %s, which a login may', async (method, path, body) => {
    const before = (await call('GET', '/person', undefined, token)).body;
    const rejected = await call(method, path, body);
    expect(rejected.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect(rejected.body.message).toContain('access key');
    expect((await call('GET', '/person', undefined, token)).body).toEqual(before);
    expect((await call(method, path, body, token)).body?.message ?? '').not.toContain('access key may not');
  });

  it('stays in its account, even where its person operates the system', async () => {
    token = await app.login(ADMIN);
    const { access_key, secret_key } = (
      await call('POST', '/credentials', { account: 'standalone', password: ADMIN.password }, token)
    ).body;
    const operator = (await app.call('POST', '/login/access-key', { body: { access_key, secret_key } })).body.token;
    expect((await call('POST', '/tokens/invalidate-system', undefined, operator)).body.error).toBe('Forbidden');
    expect((await call('GET', '/computers', undefined, operator)).status).toBe(200);
  });

  it('may do in its account what its person may do there', async () => {
    expect((await call('GET', '/me')).body).toMatchObject({ current_account: home, token: keyToken });
    expect((await call('GET', '/person')).body.email).toBe(email);
    expect((await call('GET', '/credentials')).status).toBe(200);
    expect((await call('POST', '/saved-searches', { title: 'Mine', search: 'web' })).status).toBe(201);
    expect((await call('POST', '/invitations', { name: 'G', email: `g${round}@fleet.example` })).status).toBe(201);
    expect((await call('POST', '/logout')).status).toBe(200);
    expect((await call('GET', '/person')).status).toBe(401);
    expect((await byKey()).status).toBe(200);
  });
});

describe('access keys', () => {
  const lastMessage = async () =>
    (await database.persistence.db.query('select message from event order by id desc limit 1'))[0]!['message'];
  const keys = () => database.persistence.db.query('select 1 from credential where person_id = $1', [personId]);

  it('end with POST /tokens/invalidate-me, unless they are to be kept', async () => {
    expect((await call('POST', '/tokens/invalidate-me', { keep_access_keys: true }, token)).status).toBe(204);
    expect((await call('GET', '/person')).status).toBe(401);
    expect((await byKey()).status).toBe(200);
    token = await app.login({ email, password: PASSWORD });
    expect((await call('POST', '/tokens/invalidate-me', undefined, token)).status).toBe(204);
    expect(await lastMessage()).toBe('Ended all own tokens and access keys');
    expect((await byKey()).body.error).toBe('AuthenticationFailed');
    expect(await keys()).toEqual([]);
  });

  it('end with a change of the password, unless they are to be kept', async () => {
    const change = (password: string, new_password: string, more = {}) =>
      call('PUT', '/password', { password, new_password, ...more }, token);
    expect((await change(PASSWORD, 'battery staple', { keep_access_keys: true })).status).toBe(200);
    expect((await call('GET', '/person')).status).toBe(401);
    expect((await byKey()).status).toBe(200);
    token = await app.login({ email, password: 'battery staple' });
    expect((await change('wrong', 'staple battery')).status).toBe(401);
    expect((await byKey()).status).toBe(200);
    expect((await change('battery staple', 'staple battery')).status).toBe(200);
    expect(await lastMessage()).toBe('Changed their own password and ended all their access keys');
    expect((await byKey()).status).toBe(401);
    expect(await keys()).toEqual([]);
  });

  it('of the previous build stay valid, and what it does to them during an upgrade holds', async () => {
    const { db } = database.persistence;
    const [made] = await db.query<{ account_id: number; secret_digest: Buffer }>(
      'select account_id, secret_digest from credential where access_key = $1',
      [pair.access_key],
    );
    const older = (access_key: string) =>
      db.query(
        `insert into access_key (account_id, person_id, access_key, secret_digest) values ($1, $2, $3, $4)
         on conflict (account_id, person_id) do update
         set access_key = excluded.access_key, secret_digest = excluded.secret_digest, creation_time = now()`,
        [made!.account_id, personId, access_key, made!.secret_digest],
      );
    const login = async (access_key: string) =>
      (await app.call('POST', '/login/access-key', { body: { ...pair, access_key } })).status;
    await older('OLDER1');
    expect(await login('OLDER1')).toBe(200);
    await older('OLDER2');
    expect([await login('OLDER1'), await login('OLDER2'), await login(pair.access_key)]).toEqual([401, 200, 200]);
    expect((await call('DELETE', '/credentials/OLDER2', undefined, token)).status).toBe(204);
    expect(await login('OLDER2')).toBe(401);
    expect(await db.query('select 1 from access_key where person_id = $1', [personId])).toEqual([]);
  });
});
