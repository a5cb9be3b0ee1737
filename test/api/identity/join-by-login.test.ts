import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { hashPassword } from '../../../src/services/identity/login/passwords.ts';
import { createAccount, PASSWORD } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
let nowMs = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
  admin = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

async function invite(roles?: string[]): Promise<string> {
  const body = { name: 'New Comer', email: 'invited@fleet.example', roles };
  return (await app.call('POST', '/invitations', { token: admin, body })).body.secure_id;
}
const login = (body: object) => app.call('POST', '/login', { body });
const people = async () =>
  (await database.persistence.db.query<{ n: number }>('select count(*)::int as n from person'))[0]!.n;

describe('POST /login with an invitation', () => {
  it('makes a person who is known a member and the account current', async () => {
    const { email } = await createAccount(database.persistence.db, 'known');
    const invitation_id = await invite(['Auditor']);
    const { status, body } = await login({ email, password: PASSWORD, invitation_id });
    expect(status).toBe(200);
    expect(body.current_account).toBe('standalone');
    expect(body.accounts.map((a: { name: string }) => a.name)).toEqual(['known', 'standalone']);
    expect((await app.call('GET', '/roles', { token: body.token })).status).toBe(200);
    expect((await app.call('POST', '/roles', { token: body.token, body: { name: 'x' } })).status).toBe(403);
    const again = await login({ email, password: PASSWORD, invitation_id });
    expect(again.body).toMatchObject({ error: 'UnknownInvitation', code: 404 });
    expect((await login({ email, password: PASSWORD })).body.current_account).toBe('known');
  });

  it('makes a person of an address nobody has, with that password and the name of the invitation', async () => {
    const invitation_id = await invite(['SupportAnalyst']);
    const { status, body } = await login({
      email: 'Own.Choice@fleet.example',
      password: 'my own words',
      invitation_id,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'New Comer', email: 'Own.Choice@fleet.example', current_account: 'standalone' });
    const person = await app.call('GET', '/person', { token: body.token });
    expect(person.body).toMatchObject({ identity: 'Own.Choice@fleet.example', last_login_host: expect.any(String) });
    const next = await login({ email: 'own.choice@fleet.example', password: 'my own words' });
    expect(next.body.current_account).toBe('standalone');
    const events = await database.persistence.db.query<{ message: string }>(
      `select message from event where account_id = $1 and entity_type = 'Invitation' order by id desc limit 1`,
      [accountId],
    );
    expect(events[0]!.message).toBe(
      'New Comer <Own.Choice@fleet.example> accepted an invitation and is an administrator now',
    );
  });

  it('makes nobody of a bad address, a short password or a login name', async () => {
    const before = await people();
    const invitation_id = await invite();
    for (const email of ['nobody', 'a@b@c', 'a,b@fleet.example', `${'x'.repeat(250)}@fleet.example`]) {
      expect((await login({ email, password: 'long enough words', invitation_id })).body.error).toBe(
        'InvalidParameter',
      );
    }
    const short = await login({ email: 'short@fleet.example', password: 'ab', invitation_id });
    expect(short.body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    const identity = await login({ identity: 'somebody', password: 'long enough words', invitation_id });
    expect(identity.body.error).toBe('AuthenticationFailed');
    const common = await login({ email: 'short@fleet.example', password: 'Password2026!', invitation_id });
    expect(common.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.password' }] });
    const own = await login({ email: 'short.name@fleet.example', password: 'shortname1234', invitation_id });
    expect(own.body.error).toBe('InvalidParameter');
    expect(await people()).toBe(before);
    expect((await login({ email: 'late@fleet.example', password: 'long enough words', invitation_id })).status).toBe(
      200,
    );
  });

  it('holds the password of a newcomer, and of nobody else, to strength rules where the deployment does', async () => {
    const { identity } = loadConfig({ FLOTILLA_ENFORCE_PASSWORD_STRENGTH: 'true' }, 'stack');
    const clock = { now: () => new Date(nowMs) };
    const strict = await createTestApp(database.persistence, { clock, settings: { identity } });
    const invitation_id = await invite();
    const join = (email: string, password: string, id = invitation_id) =>
      strict.call('POST', '/login', { body: { email, password, invitation_id: id } });
    const before = await people();
    const weak = await join('strong@fleet.example', 'long enough words');
    expect(weak.body).toMatchObject({ error: 'InvalidParameter', details: [{ path: 'body.password' }] });
    expect(await people()).toBe(before);
    expect((await join('strong@fleet.example', 'Str0ngEnough')).status).toBe(200);
    const { email } = await createAccount(database.persistence.db, 'weak');
    expect((await join(email, PASSWORD, await invite())).status).toBe(200);
    await strict.close();
  });

  it('makes a person of an address that somebody else had before, with another login name', async () => {
    const { db } = database.persistence;
    const former = await createAccount(db, 'former');
    await db.query(`update person set email = $2::text, allowable_emails = array[$2::text] where id = $1`, [
      former.personId,
      'renamed@fleet.example',
    ]);
    const invitation_id = await invite();
    const email = ` ${former.email.toUpperCase()} `;
    const { body } = await login({ email, password: 'long enough words', invitation_id });
    expect(body).toMatchObject({ email: email.trim(), current_account: 'standalone' });
    const person = (await app.call('GET', '/person', { token: body.token })).body;
    expect(person.identity).toMatch(/^FORMER@FLEET\.EXAMPLE\/[0-9a-f-]{36}$/);
    const old = await login({ identity: former.email, password: PASSWORD });
    expect(old.body.email).toBe('renamed@fleet.example');
  });

  it('lets nobody join whose password is wrong or who requests another account', async () => {
    const { email } = await createAccount(database.persistence.db, 'stranger');
    await createAccount(database.persistence.db, 'third');
    const invitation_id = await invite();
    expect((await login({ email, password: 'wrong words of mine', invitation_id })).body.error).toBe(
      'AuthenticationFailed',
    );
    const elsewhere = await login({ email, password: PASSWORD, invitation_id, account: 'third' });
    expect(elsewhere.body).toMatchObject({ error: 'Forbidden', code: 403 });
    const newcomer = { email: 'third@person.example', password: PASSWORD, invitation_id, account: 'third' };
    const before = await people();
    expect((await login(newcomer)).body.error).toBe('Forbidden');
    expect(await people()).toBe(before);
    const own = await login({ email, password: PASSWORD, invitation_id, account: 'standalone' });
    expect(own.body.current_account).toBe('standalone');
  });

  it('INVITE-replay: lets in one of many newcomers at once, and makes no person of the others', async () => {
    const before = await people();
    const invitation_id = await invite();
    const responses = await Promise.all(
      ['n1', 'n2', 'n3', 'n4'].map((name) =>
        login({ email: `${name}@fleet.example`, password: 'long enough words', invitation_id }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of responses) expect([200, 401, 404]).toContain(status);
    expect(await people()).toBe(before + 1);
  });

  it('LOGIN-enum: does not reveal by a short password who is known, and counts requests with an invitation', async () => {
    nowMs += 5 * 60_000;
    const { email } = await createAccount(database.persistence.db, 'requested');
    const invitation_id = await invite();
    const attempt = (name: string) => login({ email: name, password: 'ab', invitation_id });
    const [known, unknown] = [await attempt(email), await attempt('unknown@fleet.example')];
    expect([known.status, known.text.replace(/"request_id":"[^"]*"/, '')]).toEqual([
      400,
      unknown.text.replace(/"request_id":"[^"]*"/, ''),
    ]);
    for (let i = 0; i < 18; i++) expect((await attempt(`a${i}@fleet.example`)).status).toBe(400);
    expect((await attempt('late@fleet.example')).status).toBe(429);
    nowMs += 5 * 60_000;
  });

  it('lets people join with the short password that they have', async () => {
    const { email, personId } = await createAccount(database.persistence.db, 'brief');
    const passwordHash = await hashPassword('ab');
    await database.persistence.db.query('update person set password_hash = $1 where id = $2', [passwordHash, personId]);
    expect((await login({ email, password: 'ab' })).status).toBe(200);
    expect((await login({ email, password: 'ab', invitation_id: await invite() })).status).toBe(200);
  });

  it('LOGIN-enum: does not distinguish an unknown name from a wrong password, nor at the limit of attempts', async () => {
    nowMs += 5 * 60_000;
    const { email } = await createAccount(database.persistence.db, 'exists');
    const attempt = (name: string) => login({ email: name, password: 'wrong words', invitation_id: 'x'.repeat(30) });
    const known = await attempt(email);
    const unknown = await attempt('never@fleet.example');
    expect([known.status, known.text]).toEqual([401, unknown.text]);
    for (let i = 0; i < 9; i++) await Promise.all([attempt(`a${i}@fleet.example`), attempt(`b${i}@fleet.example`)]);
    const late = await Promise.all([attempt(email), attempt('other@fleet.example')]);
    expect(late.map(({ status }) => status)).toEqual([429, 429]);
    expect((await login({ email, password: PASSWORD })).status).toBe(200);
  });
});
