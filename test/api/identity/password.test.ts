import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createAccount, PASSWORD } from '../../../tools/harness/accounts.ts';
import {
  ADMIN,
  createAdmin,
  createTestApp,
  createTwoProcesses,
  type TestApp,
  type TwoProcesses,
} from '../../support/http/app.ts';
import type { TestDatabase } from '../../support/database/database.ts';

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

const lastEvent = async () =>
  (await database.persistence.db.query('select account_id, person_id, message from event order by id desc limit 1'))[0];

const works = (as = token) => processes.works(as);
const hasEnded = (as = token) => processes.hasEnded(as);

describe('PUT /password', () => {
  const change = (body: unknown, as = token) => app.call('PUT', '/password', { token: as, body });

  it('JWT-revoked: replaces the password and ends every token of the person', async () => {
    const second = await app.login({ email, password: PASSWORD });
    const response = await change({ password: PASSWORD, new_password: 'battery staple' });
    expect({ status: response.status, body: response.body }).toEqual({ status: 200, body: {} });
    expect(await lastEvent()).toEqual({
      account_id: accountId,
      person_id: personId,
      message: 'Changed their own password',
    });
    await hasEnded();
    await hasEnded(second);
    expect((await app.call('POST', '/login', { body: { email, password: PASSWORD } })).status).toBe(401);
    await works(await app.login({ email, password: 'battery staple' }));
    const log = JSON.stringify(await database.persistence.db.query('select row_to_json(e)::text as e from event e'));
    expect(log).not.toContain('battery');
  });

  it('rejects a wrong current password, and throttles guesses as logins', async () => {
    const wrong = await change({ password: 'wrong', new_password: 'battery staple' });
    expect(wrong.body).toMatchObject({ error: 'AuthenticationFailed', code: 401 });
    await works();
    for (let guess = 1; guess < 20; guess++)
      await change({ password: `guess ${guess}`, new_password: 'battery staple' });
    expect((await change({ password: PASSWORD, new_password: 'battery staple' })).body.error).toBe('TooManyRequests');
    expect((await app.call('POST', '/login', { body: { email, password: PASSWORD } })).status).toBe(429);
  });

  it('LOGIN-long: takes 12 to 128 characters and stores nothing else', async () => {
    for (const new_password of [
      '',
      'eleven char',
      '😀'.repeat(11),
      `${'many words '.repeat(12)}`,
      'x'.repeat(1_000_000),
      7,
      null,
    ]) {
      expect((await change({ password: PASSWORD, new_password })).body).toMatchObject({
        error: 'InvalidParameter',
        details: [{ path: 'body.new_password' }],
      });
    }
    expect((await change({ password: 'x'.repeat(1025), new_password: 'battery staple' })).body.error).toBe(
      'InvalidParameter',
    );
    expect((await change({ password: PASSWORD })).body.error).toBe('InvalidParameter');
    await works();
    expect((await change({ password: PASSWORD, new_password: 'cafe\u0301 noir et' })).status).toBe(200);
    await works(await app.login({ email, password: 'caf\u00e9 noir et' }));
    const smiles = '😀😁😂🤣'.repeat(32);
    token = await app.login({ email, password: 'caf\u00e9 noir et' });
    expect((await change({ password: 'caf\u00e9 noir et', new_password: smiles })).status).toBe(200);
    await works(await app.login({ email, password: smiles }));
  });

  it('rejects common passwords, and those made of who the person is', async () => {
    for (const new_password of ['Password2026!', 'qwertyuiop12', 'flotilla2026', 'Home-2026!!!', 'x'.repeat(20)]) {
      expect((await change({ password: PASSWORD, new_password })).body, new_password).toMatchObject({
        error: 'InvalidParameter',
        details: [{ path: 'body.new_password' }],
      });
    }
    await works();
  });

  it('takes the length that the deployment is set to', async () => {
    const { identity } = loadConfig({ FLOTILLA_PASSWORD_MIN_LENGTH: '8' }, 'stack');
    const lenient = await createTestApp(database.persistence, { clock: processes.clock, settings: { identity } });
    const changeThere = (new_password: string) =>
      lenient.call('PUT', '/password', { token, body: { password: PASSWORD, new_password } });
    expect((await changeThere('7 chars')).body.message).toBe('The password must have 8 to 128 characters');
    expect((await changeThere('8 charss')).status).toBe(200);
    await lenient.close();
  });

  it('holds a new password to strength rules where the deployment does', async () => {
    const { identity } = loadConfig({ FLOTILLA_ENFORCE_PASSWORD_STRENGTH: 'true' }, 'stack');
    const strict = await createTestApp(database.persistence, { clock: processes.clock, settings: { identity } });
    const changeThere = (new_password: string) =>
      strict.call('PUT', '/password', { token, body: { password: PASSWORD, new_password } });
    for (const weak of ['short1A', 'nouppercase1', 'NOLOWERCASE1', 'NoDigitsHere']) {
      expect((await changeThere(weak)).body).toMatchObject({
        error: 'InvalidParameter',
        details: [{ path: 'body.new_password' }],
      });
    }
    await works();
    expect((await changeThere('Str0ngEnough')).status).toBe(200);
    await strict.close();
  });

  it('lets one of two changes at once through', async () => {
    const responses = await Promise.all(
      ['first staple', 'second staple'].map((word) => change({ password: PASSWORD, new_password: word })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it('MASS-assign: changes nobody else', async () => {
    const body = { password: PASSWORD, new_password: 'battery staple' };
    expect((await change({ ...body, email: ADMIN.email, id: 1, person_id: 1 })).status).toBe(400);
    expect((await change(body)).status).toBe(200);
    await app.login(ADMIN);
  });
});
