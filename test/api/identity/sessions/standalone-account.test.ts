import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/process/config.ts';
import {
  closeStandaloneEnrolment,
  createStandaloneAccount,
} from '../../../../src/services/identity/accounts.service.ts';
import { ADMIN, createTestApp, type TestApp } from '../../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence);
});

afterEach(() => database.persistence.db.query('truncate account, person restart identity cascade'));

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const create = (body: unknown) => app.call('POST', '/standalone-account', { body });

async function nothingIsStored(): Promise<void> {
  const rows = await database.persistence.db.query('select id from account union all select id from person');
  expect(rows).toEqual([]);
}

describe('POST /standalone-account', () => {
  it('makes the account, its roles and its first administrator', async () => {
    const response = await create(ADMIN);
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      account: 'standalone',
      creation_time: expect.stringMatching(/Z$/),
      administrators: [{ name: ADMIN.name, email: ADMIN.email, openid: null }],
      disabled: false,
      disabled_reason: null,
      computers: 0,
      company: 'Organization',
      last_login_time: null,
      licenses: [],
      salesforce_account_key: null,
      enabled_features: [],
      subdomain: null,
    });
    const { db } = database.persistence;
    expect(await db.query('select name from role order by id')).toHaveLength(5);
    const [account] = await db.query('select auto_register, registration_key from account');
    expect(account).toEqual({ auto_register: false, registration_key: expect.stringMatching(/^[A-Za-z2-9]{24}$/) });
    const [person] = await db.query<{ password_hash: string }>('select password_hash from person');
    expect(person!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect((await app.call('GET', '/standalone-account')).body).toEqual({ exists: true });
  });

  it('rejects an address that somebody has or had', async () => {
    const { db } = database.persistence;
    await db.query(
      `insert into person (name, email, allowable_emails, identity)
       values ('Somebody', 'now@fleet.example', array['now@fleet.example', 'Before@fleet.example'], 'somebody')`,
    );
    for (const email of ['NOW@fleet.example', 'before@fleet.example']) {
      expect((await create({ ...ADMIN, email })).body).toMatchObject({ error: 'DuplicateEmail', code: 409 });
    }
    expect((await app.call('GET', '/standalone-account')).body).toEqual({ exists: false });
  });

  it('leaves one line in the event log, without the password', async () => {
    const { db } = database.persistence;
    const [before] = await db.query<{ count: number }>('select count(*)::int as count from event');
    await Promise.all([create(ADMIN), create(ADMIN)]);
    const lines = await db.query('select * from event order by id offset $1', [before!.count]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      person_name: ADMIN.name,
      entity_type: 'Account',
      message: `Created the account with its first administrator ${ADMIN.name} <${ADMIN.email}>`,
      address: expect.stringContaining('127.0.0.1'),
    });
    expect(JSON.stringify(lines)).not.toContain(ADMIN.password);
  });

  it('rejects a second one, and makes one of two at once', async () => {
    const responses = await Promise.all([create(ADMIN), create({ ...ADMIN, email: 'other@fleet.example' })]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await create(ADMIN)).body).toMatchObject({ error: 'StandaloneAccountExists', code: 400 });
    expect(await database.persistence.db.query('select id from person')).toHaveLength(1);
  });

  it('holds the password to strength rules on request', async () => {
    for (const password of ['short1A', 'nouppercase1', 'NOLOWERCASE1', 'NoDigitsHere']) {
      const response = await create({ ...ADMIN, password, enforce_password_strength: true });
      expect(response.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.password' }] });
    }
    await nothingIsStored();
    expect((await create({ ...ADMIN, password: 'Str0ngEnough', enforce_password_strength: true })).status).toBe(201);
  });

  it('holds the password to strength rules where the deployment does, by default', async () => {
    const { identity } = loadConfig({ FLOTILLA_ENFORCE_PASSWORD_STRENGTH: 'true' }, 'stack');
    const strict = await createTestApp(database.persistence, { settings: { identity } });
    const createThere = (body: unknown) => strict.call('POST', '/standalone-account', { body });
    const weak = await createThere(ADMIN);
    expect(weak.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.password' }] });
    await nothingIsStored();
    expect((await createThere({ ...ADMIN, enforce_password_strength: false })).status).toBe(201);
    const strong = await createThere({ ...ADMIN, password: 'Str0ngEnough' });
    expect(strong.body.error).toBe('StandaloneAccountExists');
    await strict.close();
  });

  it('MAIL-inject, LOGIN-long: rejects bad values and stores nothing', async () => {
    const changes = [
      { email: 'nobody' },
      { email: 'a b@c' },
      { email: `${'a'.repeat(250)}@example.com` },
      { email: 'a@b\r\nBcc: c@d' },
      { email: Array.from({ length: 1000 }, (_, n) => `m${n}@fleet.example`).join(',') },
      { email: 'a@fleet.example;b@fleet.example' },
      { name: 'One\r\nBcc: victim@fleet.example' },
      { name: '   ' },
      { name: 'two\nlines' },
      { name: 'x'.repeat(256) },
      { password: 'ab' },
      { password: 'x'.repeat(1025) },
      { password: 'x'.repeat(1_000_000) },
      { password: 7 },
      { enforce_password_strength: 'yes' },
    ];
    expect((await create({ ...ADMIN, password: 'nul\0inside' })).body).toMatchObject({
      error: 'InvalidJson',
      code: 400,
    });
    for (const change of changes) expect((await create({ ...ADMIN, ...change })).body.error).toBe('InvalidParameter');
    for (const key of ['email', 'name', 'password']) {
      expect((await create({ ...ADMIN, [key]: undefined })).body.error).toBe('InvalidParameter');
    }
    await nothingIsStored();
  });

  it('MASS-assign: rejects keys that it does not take', async () => {
    const response = await create({ ...ADMIN, id: 77, account: 'mine', disabled: true, roles: [] });
    expect(response.body.details).toHaveLength(4);
    await nothingIsStored();
  });

  it('is not there on other deployments', async () => {
    const saas = await createTestApp(database.persistence, { deployment: 'saas' });
    expect((await saas.call('GET', '/standalone-account')).body).toMatchObject({ error: 'NotFound', code: 404 });
    for (const what of [{ body: ADMIN }, { body: {} }, {}, { raw: '{ no JSON' }]) {
      const { status, body } = await saas.call('POST', '/standalone-account', what);
      expect({ status, error: body.error }).toEqual({ status: 404, error: 'NotFound' });
    }
    await saas.close();
    await nothingIsStored();
  });
});

describe('closing the enrolment of an account that is open', () => {
  const settings = () =>
    database.persistence.db.query('select registration_key as key, auto_register as auto from account');
  const close = () => closeStandaloneEnrolment(database.persistence.db);

  it('is done once: what an operator chooses afterwards stays', async () => {
    const { db } = database.persistence;
    expect(await close()).toBeNull();
    const { passwords } = loadConfig({}, 'stack').identity;
    const person = { ...ADMIN, passwords, autoRegister: true, registrationKey: null };
    await createStandaloneAccount(database.persistence, person);
    expect(await settings()).toEqual([{ key: null, auto: true }]);
    const key = await close();
    expect(await settings()).toEqual([{ key, auto: false }]);
    expect(key).toMatch(/^[A-Za-z2-9]{24}$/);
    const [event] = await db.query<{ message: string }>('select message from event order by id desc limit 1');
    expect(event!.message).toMatch(/^Created a registration key/);
    expect(event!.message).not.toContain(key);
    await db.query('update account set registration_key = null, auto_register = true');
    expect(await close()).toBeNull();
    expect(await settings()).toEqual([{ key: null, auto: true }]);
  });
});
