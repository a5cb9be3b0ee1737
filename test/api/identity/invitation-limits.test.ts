import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createAccount, PASSWORD } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { type MailServer, startMailServer } from '../../support/http/servers.ts';

const DAY_MS = 24 * 60 * 60_000;

let database: TestDatabase;
let app: TestApp;
let mail: MailServer;
let admin: string;
let nowMs = Date.now();
let round = 0;
let address: string;

const clock = { now: () => new Date(nowMs) };

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  mail = await startMailServer();
  app = await createTestApp(database.persistence, { clock, settings: { smtpUrl: mail.url } });
});

beforeEach(async () => {
  admin = await app.login();
  address = `guest${++round}@fleet.example`;
});

afterAll(async () => {
  await app?.close();
  await mail?.close();
  await database?.drop();
});

const invite = (more: object = {}, token = admin, to = app) =>
  to.call('POST', '/invitations', { token, body: { name: 'Guest', email: address, ...more } });
const use = (verb: 'accept' | 'reject', token: string, invitation_id: string) =>
  app.call('POST', `/${verb}-invitation`, { token, body: { invitation_id } });
const join = (email: string, invitation_id: string, password = 'my own words') =>
  app.call('POST', '/login', { body: { email, password, invitation_id } });
const outsider = async (email?: string) => {
  const made = await createAccount(database.persistence.db, `outsider${++round}`);
  if (email) {
    await database.persistence.db.query(
      'update person set email = $2::text, allowable_emails = array[$2::text] where id = $1',
      [made.personId, email],
    );
  }
  const login = { email: email ?? made.email, password: PASSWORD };
  return { ...login, token: await app.login(login) };
};
const list = async () => (await app.call('GET', '/invitations', { token: admin })).body;

describe('an invitation', () => {
  it('expires after 14 days and is then treated as one that never existed', async () => {
    const { id, secure_id } = (await invite()).body;
    const shown = (await app.call('GET', `/invitations/${id}`, { token: admin })).body;
    expect(Date.parse(shown.expires_at) - Date.parse(shown.creation_time)).toBe(14 * DAY_MS);
    expect(shown.bind_to_email).toBe(false);
    await expect.poll(() => mail.received.at(-1)?.text).toContain(shown.expires_at.slice(0, 10));
    const guest = await outsider();
    nowMs += 14 * DAY_MS - 1000;
    admin = await app.login();
    expect((await app.call('GET', `/invitations/${secure_id}/summary`)).status).toBe(200);
    expect((await list()).count).toBe(1);
    nowMs += 1000;
    guest.token = await app.login(guest);
    expect(await list()).toMatchObject({ count: 0, results: [] });
    const never = (await use('accept', guest.token, 'x'.repeat(30))).text;
    for (const verb of ['accept', 'reject'] as const) {
      expect((await use(verb, guest.token, secure_id)).text).toBe(never);
    }
    for (const [method, path] of [
      ['GET', `/invitations/${secure_id}/summary`],
      ['GET', `/invitations/${id}`],
      ['POST', `/invitations/${id}`],
      ['DELETE', `/invitations/${id}`],
    ] as const) {
      expect((await app.call(method, path, { token: admin })).body, path).toMatchObject({
        error: 'UnknownInvitation',
        code: 404,
      });
    }
    expect((await join(guest.email, secure_id, PASSWORD)).body.error).toBe('UnknownInvitation');
    expect((await join('late@fleet.example', secure_id)).body.error).toBe('AuthenticationFailed');
  });

  it('that has expired is removed when its account invites again', async () => {
    await invite();
    nowMs += 15 * DAY_MS;
    admin = await app.login();
    await invite();
    const rows = await database.persistence.db.query('select 1 from invitation where expires_at <= $1', [
      new Date(nowMs),
    ]);
    expect(rows).toEqual([]);
  });

  it('expires after as many days as the deployment is set to', async () => {
    const { identity } = loadConfig({ FLOTILLA_INVITATION_DAYS: '2' }, 'stack');
    const brief = await createTestApp(database.persistence, { clock, settings: { identity } });
    const { id } = (await invite({}, admin, brief)).body;
    const { creation_time, expires_at } = (await app.call('GET', `/invitations/${id}`, { token: admin })).body;
    expect(Date.parse(expires_at) - Date.parse(creation_time)).toBe(2 * DAY_MS);
    await brief.close();
  });

  it('of the previous build expires 14 days after the upgrade, and so does one that it makes meanwhile', async () => {
    const [row] = await database.persistence.db.query<{ days: number; bound: boolean }>(
      `insert into invitation (account_id, secure_id, name, email, creation_time)
       select id, 'older', 'Older', 'older@fleet.example', now() from account where name = 'standalone'
       returning extract(epoch from expires_at - now())::int / 86400 as days, bound`,
    );
    expect(row).toEqual({ days: 14, bound: false });
  });
});

describe('invitations to one address', () => {
  it('are ten a day of one account, however the address is written', async () => {
    const forms = [address, address.toUpperCase(), ` ${address} `];
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) statuses.push((await invite({ email: forms[n % 3] })).status);
    expect(statuses).toEqual([...Array<number>(10).fill(201), 429]);
    const rejected = await invite();
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(Number(rejected.headers.get('retry-after'))).toBe(DAY_MS / 1000);
    expect((await invite({ email: `other${address}` })).status).toBe(201);
    const other = await outsider();
    expect((await invite({}, other.token)).status).toBe(201);
    nowMs += DAY_MS + 1000;
    admin = await app.login();
    expect((await invite()).status).toBe(201);
  });

  it('count however they end, and so do mails that are sent again; those that fail do not', async () => {
    const { id } = (await invite()).body;
    const mute = await createTestApp(database.persistence, { clock, settings: { smtpUrl: 'smtp://127.0.0.1:1' } });
    for (let n = 0; n < 10; n++) {
      const failed = await mute.call('POST', `/invitations/${id}`, { token: admin });
      expect(failed.body.error).toBe('MailQueueUnavailable');
    }
    await mute.close();
    for (let n = 0; n < 5; n++)
      expect((await app.call('POST', `/invitations/${id}`, { token: admin })).status).toBe(200);
    for (let n = 0; n < 4; n++) {
      const made = (await invite()).body;
      expect((await app.call('DELETE', `/invitations/${made.id}`, { token: admin })).status).toBe(204);
    }
    expect((await invite()).status).toBe(429);
    expect((await app.call('POST', `/invitations/${id}`, { token: admin })).body.error).toBe('TooManyRequests');
    const before = await list();
    expect((await invite({ name: 'Again' })).status).toBe(429);
    expect(await list()).toEqual(before);
  });

  it('are ten of many at once', async () => {
    const responses = await Promise.all(Array.from({ length: 15 }, () => invite()));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
  });
});

describe('an invitation that is bound to its address', () => {
  it('is marked as such, and is accepted by the person with this address alone, in any case', async () => {
    const guest = await outsider(address.toUpperCase());
    const other = await outsider();
    const { id, secure_id } = (await invite({ bind_to_email: true })).body;
    expect((await app.call('GET', `/invitations/${id}`, { token: admin })).body.bind_to_email).toBe(true);
    for (const verb of ['accept', 'reject'] as const) {
      expect((await use(verb, other.token, secure_id)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    }
    const byLogin = await join(other.email, secure_id, PASSWORD);
    expect(byLogin.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await app.login(other)).length).toBeGreaterThan(0);
    expect((await use('accept', guest.token, secure_id)).status).toBe(200);
    expect((await use('accept', guest.token, secure_id)).body.error).toBe('UnknownInvitation');
  });

  it('makes a new person with this address alone, and reveals to nobody which others are known', async () => {
    const known = await outsider();
    const { secure_id } = (await invite({ bind_to_email: true })).body;
    const other = await join('someone.else@fleet.example', secure_id);
    expect(other.body).toMatchObject({ error: 'AuthenticationFailed', code: 401 });
    expect((await join(known.email, secure_id, 'not their words')).text).toBe(other.text);
    expect((await join('someone.else@fleet.example', secure_id, 'ab')).text).toBe(other.text);
    const joined = await join(` ${address.toUpperCase()}`, secure_id);
    expect(joined.body).toMatchObject({ current_account: 'standalone' });
    expect(await database.persistence.db.query(`select 1 from person where email ilike 'someone.else%'`)).toEqual([]);
  });
});
