import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createMember, PASSWORD } from '../../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTwoProcesses, type TestApp, type TwoProcesses } from '../../../support/http/app.ts';
import type { TestDatabase } from '../../../support/database/database.ts';

let processes: TwoProcesses;
let database: TestDatabase;
let app: TestApp;
let round = 0;
let home: string;
let accountId: number;
let personId: number;
let email: string;
let token: string;

beforeAll(async () => {
  processes = await createTwoProcesses();
  ({ database, app } = processes);
  await createAdmin(database.persistence);
});

beforeEach(async () => {
  home = `home${++round}`;
  const account = await createAccount(database.persistence.db, home);
  ({ accountId, personId, email } = account);
  token = await app.login(account);
  await works();
});

afterAll(() => processes?.close());

const post = (path: string, as = token, body?: unknown) => app.call('POST', path, { token: as, body });
const lastEvent = async () =>
  (await database.persistence.db.query('select account_id, person_id, message from event order by id desc limit 1'))[0];

const works = (as = token) => processes.works(as);
const hasEnded = (as = token) => processes.hasEnded(as);

describe('GET /me', () => {
  it('returns what the login returned', async () => {
    const login = await app.call('POST', '/login', { body: { email, password: PASSWORD } });
    expect((await app.call('GET', '/me', { token: login.body.token })).body).toEqual(login.body);
  });

  it('works for a person without account', async () => {
    await database.persistence.db.query('delete from membership where person_id = $1', [personId]);
    const homeless = await app.login({ email, password: PASSWORD });
    const response = (await app.call('GET', '/me', { token: homeless })).body;
    expect(response).toMatchObject({ accounts: [], current_account: '', token: homeless });
  });
});

describe('POST /logout', () => {
  it('JWT-revoked: ends the token in use and no other', async () => {
    const second = await app.login({ email, password: PASSWORD });
    const response = await post('/logout');
    expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: {} });
    await hasEnded();
    await works(second);
    expect((await post('/logout')).status).toBe(401);
  });

  it('removes tokens that have expired since', async () => {
    const { db } = database.persistence;
    await post('/logout');
    processes.pass(1441 * 60_000);
    await post('/logout', await app.login({ email, password: PASSWORD }));
    const rows = await db.query('select 1 from revoked_token where expires_at < $1', [processes.clock.now()]);
    expect(rows).toEqual([]);
  });
});

describe('POST /switch-account', () => {
  const switchTo = (name: unknown, as = token) => post('/switch-account', as, { account_name: name });

  it('responds with a token of the usual lifetime for the other account', async () => {
    const { db } = database.persistence;
    const second = await createAccount(db, `second${round}`);
    await db.query(`insert into membership values ($1, $2, now() + interval '1 day')`, [second.accountId, personId]);
    const response = await switchTo(`second${round}`);
    expect(Object.keys(response.body)).toEqual(['token']);
    expect((await app.call('GET', '/me', { token: response.body.token })).body.current_account).toBe(`second${round}`);
    const claims = jwt.decode(response.body.token) as { acc: string; exp: number; iat: number };
    expect(claims).toMatchObject({ acc: `second${round}` });
    expect(claims.exp - claims.iat).toBe(1440 * 60);
  });

  it('rejects accounts of others alike whether they exist, and bad values', async () => {
    const foreign = await switchTo('standalone');
    expect(foreign.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await switchTo('never')).text).toBe(foreign.text);
    for (const name of ['', 7, null, undefined]) expect((await switchTo(name)).body.error).toBe('InvalidParameter');
  });

  it('JWT-revoked: gives no token for one that was ended a moment ago, and its tokens end with it', async () => {
    const { db } = database.persistence;
    const child = (await switchTo(home)).body.token;
    await works(child);
    await db.query('update person set token_epoch = token_epoch + 1 where id = $1', [personId]);
    expect((await switchTo(home)).status).toBe(401);
    processes.passToOthers();
    await hasEnded(child);
  });
});

describe('POST /tokens/invalidate-*', () => {
  it('JWT-revoked: invalidate-me ends all of the person and of nobody else', async () => {
    const member = await createMember(database.persistence.db, {
      accountId,
      email: `m${round}@fleet.example`,
      role: 'Auditor',
    });
    const theirs = await app.login(member);
    const second = await app.login({ email, password: PASSWORD });
    const response = await post('/tokens/invalidate-me');
    expect({ status: response.status, text: response.text }).toEqual({ status: 204, text: '' });
    await hasEnded();
    await hasEnded(second);
    await works(theirs);
    expect(await lastEvent()).toEqual({ account_id: accountId, person_id: personId, message: 'Ended all own tokens' });
    await works(await app.login({ email, password: PASSWORD }));
  });

  it('JWT-revoked: invalidate-account ends all for the account, and needs ManageAccount', async () => {
    const member = await createMember(database.persistence.db, {
      accountId,
      email: `m${round}@fleet.example`,
      role: 'Auditor',
    });
    const theirs = await app.login(member);
    const foreign = await app.login(ADMIN);
    expect((await post('/tokens/invalidate-account', theirs)).body.error).toBe('Forbidden');
    await works();
    expect((await post('/tokens/invalidate-account')).status).toBe(204);
    await hasEnded();
    await hasEnded(theirs);
    await works(foreign);
    expect((await lastEvent())!['message']).toBe('Ended all tokens of the account');
  });

  it('JWT-revoked: invalidate-system ends all, for operators alone', async () => {
    const operator = await app.login(ADMIN);
    expect((await post('/tokens/invalidate-system')).body).toMatchObject({ error: 'Forbidden', code: 403 });
    await works();
    expect((await post('/tokens/invalidate-system', operator)).status).toBe(204);
    await hasEnded();
    await hasEnded(operator);
  });

  it('JWT-revoked: who administers the first account no more is no operator', async () => {
    const { db } = database.persistence;
    const roleOf = (name: string) =>
      db.query(
        `update membership_role m set role_id = r.id from role r, person p
         where r.account_id = m.account_id and r.name = $1 and p.id = m.person_id and p.email = $2`,
        [name, ADMIN.email],
      );
    await roleOf('Auditor');
    const former = await app.login(ADMIN);
    for (const path of ['/tokens/invalidate-system', '/tokens/invalidate-system/account/standalone']) {
      expect((await post(path, former)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    }
    await works(former);
    await roleOf('GlobalAdmin');
  });

  it('JWT-revoked: an operator ends all for a named account', async () => {
    const operator = await app.login(ADMIN);
    const path = `/tokens/invalidate-system/account/${home}`;
    expect((await post(path)).body.error).toBe('Forbidden');
    expect((await post('/tokens/invalidate-system/account/never', operator)).body).toMatchObject({
      error: 'UnknownAccount',
      code: 404,
    });
    await works();
    expect((await post(path, operator)).status).toBe(204);
    await hasEnded();
    await works(operator);
    expect((await lastEvent())!['account_id']).toBe(accountId);
  });
});
