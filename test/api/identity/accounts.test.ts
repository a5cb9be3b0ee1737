import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createAccount, createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let saas: TestApp;
let standalone: TestApp;
let token: string;
let personId: number;
let email: string;
let round = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  saas = await createTestApp(database.persistence, { deployment: 'saas' });
  standalone = await createTestApp(database.persistence);
});

/** A person without account. */
beforeEach(async () => {
  const { db } = database.persistence;
  const { accountId } = await createAccount(db, `inviting${++round}`);
  email = `alone${round}@fleet.example`;
  ({ personId } = await createMember(db, { accountId, email, role: 'Auditor' }));
  await db.query('delete from membership where person_id = $1', [personId]);
  token = await saas.login({ email, password: PASSWORD });
});

afterAll(async () => {
  await saas?.close();
  await standalone?.close();
  await database?.drop();
});

const create = (body: unknown, as = token, at = saas) => at.call('POST', '/accounts', { token: as, body });
const countAccounts = async () =>
  (await database.persistence.db.query('select count(*)::int as n from account'))[0]!['n'];

describe('POST /accounts', () => {
  it('makes an account that its maker administers after switching to it', async () => {
    const response = await create({ title: ' Example Works ' });
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({
      account: expect.stringMatching(/^[a-z0-9]{8}$/),
      company: 'Example Works',
      administrators: [{ name: 'Member', email, openid: null }],
      disabled: false,
      computers: 0,
    });
    expect((await saas.call('GET', '/computers', { token })).body.error).toBe('NoAccount');
    const switched = await saas.call('POST', '/switch-account', {
      token,
      body: { account_name: response.body.account },
    });
    const own = switched.body.token;
    expect((await saas.call('GET', '/computers', { token: own })).body).toMatchObject({ count: 0 });
    const preferences = (await saas.call('GET', '/preferences', { token: own })).body;
    expect(preferences).toEqual({
      title: 'Example Works',
      registration_password: expect.stringMatching(/^[A-Za-z2-9]{24}$/),
      auto_register_new_computers: false,
      audit_retention_period: -1,
      agent_intervals: null,
    });
    const { db } = database.persistence;
    const roles = await db.query(
      `select r.name from role r join account a on a.id = r.account_id where a.name = $1 order by r.name`,
      [response.body.account],
    );
    expect(roles.map(({ name }) => name)).toEqual([
      'Auditor',
      'DesktopAdmin',
      'GlobalAdmin',
      'ServerAdmin',
      'SupportAnalyst',
    ]);
    const [event] = await db.query('select entity_type, entity_name, message from event order by id desc limit 1');
    expect(event).toEqual({
      entity_type: 'Account',
      entity_name: 'Example Works',
      message: 'Member created the account',
    });
    expect((await saas.call('POST', '/login', { body: { email, password: PASSWORD } })).body.current_account).toBe(
      response.body.account,
    );
  });

  it('rejects people who have an account, and makes one of two at once', async () => {
    const before = await countAccounts();
    const responses = await Promise.all([create({ title: 'One' }), create({ title: 'Two' })]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await create({ title: 'Three' })).body).toMatchObject({ error: 'AccountExists', code: 409 });
    expect(await countAccounts()).toBe(before + 1);
  });

  it('is rejected where people do not make accounts for themselves, and can be allowed there', async () => {
    expect((await create({ title: 'One' }, token, standalone)).body).toMatchObject({
      error: 'SelfServiceDisabled',
      code: 403,
    });
    const { identity } = loadConfig({ FLOTILLA_SELF_SERVICE_ACCOUNTS: 'true' }, 'stack');
    const open = await createTestApp(database.persistence, { settings: { identity } });
    expect((await create({ title: 'One' }, token, open)).status).toBe(201);
    await open.close();
  });

  it('rejects bad titles and stores nothing', async () => {
    const before = await countAccounts();
    for (const title of ['', '   ', 'two\nlines', 'x'.repeat(256), 7, null, undefined]) {
      expect((await create({ title })).body.error).toBe('InvalidParameter');
    }
    expect((await create([])).body.error).toBe('InvalidParameter');
    expect(await countAccounts()).toBe(before);
  });

  it('MASS-assign, PROTO: rejects keys that it does not take', async () => {
    const raw = `{"title": "T", "account": "mine", "id": 1, "disabled": true,
      "__proto__": {"disabled": true}, "constructor": {"prototype": {"x": 1}}}`;
    const response = await saas.call('POST', '/accounts', { token, raw });
    expect(response.body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect(response.body.details).toEqual([
      { path: 'body.account', message: 'cannot be set' },
      { path: 'body.id', message: 'unknown field "id"' },
      { path: 'body.disabled', message: 'cannot be set' },
      { path: 'body.__proto__', message: 'unknown field "__proto__"' },
      { path: 'body.constructor', message: 'unknown field "constructor"' },
    ]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
