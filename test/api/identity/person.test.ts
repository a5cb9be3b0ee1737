import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createTestApp, type TestApp } from '../../support/http/app.ts';
import { type MailServer, startMailServer } from '../../support/http/servers.ts';

let database: TestDatabase;
let mail: MailServer;
let app: TestApp;
let other: TestApp;
let token: string;
let personId: number;
let round = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  mail = await startMailServer();
  app = await createTestApp(database.persistence, { settings: { smtpUrl: mail.url, mailFrom: 'fleet@fleet.example' } });
  other = await createTestApp(database.persistence);
});

beforeEach(async () => {
  const account = await createAccount(database.persistence.db, `home${++round}`);
  personId = account.personId;
  token = await app.login(account);
});

afterAll(async () => {
  await app?.close();
  await other?.close();
  await mail?.close();
  await database?.drop();
});

const edit = (body: unknown, as = token) => app.call('POST', '/person', { token: as, body });
const read = async () => (await app.call('GET', '/person', { token })).body;

describe('POST /person', () => {
  it('changes what is given, and reading shows it at once', async () => {
    const before = await read();
    const changes = { name: ' Ada  Example ', timezone: 'Europe/Madrid' };
    const response = await edit({ ...changes, preferred_account: `home${round}` });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      ...before,
      name: 'Ada  Example',
      timezone: 'Europe/Madrid',
      preferred_account: `home${round}`,
    });
    expect(await read()).toEqual(response.body);
  });

  it('keeps what is absent or null, and clears the preferred account', async () => {
    await edit({ preferred_account: `home${round}` });
    const before = await read();
    for (const body of [{}, { name: null, email: null, timezone: null }]) {
      expect((await edit(body)).body).toEqual(before);
    }
    expect((await app.call('POST', '/person', { token })).body).toEqual(before);
    expect((await edit({ preferred_account: null })).body).toEqual({ ...before, preferred_account: null });
  });

  it('takes effect on another process within five seconds', async () => {
    await other.call('GET', '/person', { token });
    await edit({ name: 'Elsewhere' });
    await expect
      .poll(async () => (await other.call('GET', '/person', { token })).body.name, { timeout: 5000 })
      .toBe('Elsewhere');
  });

  it('MAIL-inject: rejects bad values and stores nothing', async () => {
    const before = await read();
    const bad = [
      { name: '' },
      { name: '  ' },
      { name: 'x'.repeat(256) },
      { name: 'two\r\nBcc: victim@fleet.example' },
      { name: 7 },
      { email: 'nobody' },
      { email: 'a@b\r\nBcc: c@d' },
      { email: 'a@fleet.example, b@fleet.example' },
      { email: Array.from({ length: 1000 }, (_, n) => `m${n}@fleet.example`).join(',') },
      { email: '<a@fleet.example>' },
      { email: ['a@fleet.example'] },
      { timezone: 'Nowhere/Atlantis' },
      { timezone: '+01:00' },
      { timezone: '' },
      { timezone: '../../etc/passwd' },
      { preferred_account: 'standalone' },
      { preferred_account: '' },
      { preferred_account: 1 },
    ];
    for (const body of bad)
      expect((await edit(body)).body, JSON.stringify(body)).toMatchObject({ error: 'InvalidParameter' });
    expect(await read()).toEqual(before);
  });

  it('MASS-assign: rejects keys that it does not take', async () => {
    const before = await read();
    const response = await edit({
      id: 1,
      identity: 'root',
      allowable_emails: ['x@fleet.example'],
      operator: true,
      last_login_host: 'x',
    });
    expect(response.body.details).toEqual([
      { path: 'body.id', message: 'unknown field "id"' },
      { path: 'body.identity', message: 'cannot be changed' },
      { path: 'body.allowable_emails', message: 'cannot be changed' },
      { path: 'body.operator', message: 'unknown field "operator"' },
      { path: 'body.last_login_host', message: 'cannot be changed' },
    ]);
    expect(await read()).toEqual(before);
    const [row] = await database.persistence.db.query('select operator, token_epoch from person where id = $1', [
      personId,
    ]);
    expect(row).toEqual({ operator: false, token_epoch: 0 });
  });

  it('PROTO: takes keys of the prototype for what they are', async () => {
    const before = await read();
    const raw = '{"__proto__": {"name": "x", "operator": true}, "constructor": {"prototype": {"name": "x"}}}';
    expect((await app.call('POST', '/person', { token, raw })).status).toBe(400);
    expect(await read()).toEqual(before);
    expect(({} as Record<string, unknown>)['operator']).toBeUndefined();
  });

  it('records in the event log what changed', async () => {
    await edit({ name: 'Logged', timezone: 'UTC' });
    const [event] = await database.persistence.db.query(
      'select person_id, entity_type, entity_id, message, address from event order by id desc limit 1',
    );
    expect(event).toEqual({
      person_id: personId,
      entity_type: 'Person',
      entity_id: personId,
      message: 'Changed name, time zone of the own person',
      address: '127.0.0.1',
    });
    await edit({ name: null, email: null, timezone: null });
    const [last] = await database.persistence.db.query('select message from event order by id desc limit 1');
    expect(last).toEqual({ message: 'Changed nothing of the own person' });
  });
});

describe('POST /person:test-email', () => {
  const send = (to = app) => to.call('POST', '/person:test-email', { token });

  it('hands a mail for the own address to the mail server', async () => {
    const before = mail.received.length;
    const response = await send();
    expect({ status: response.status, text: response.text }).toEqual({ status: 204, text: '' });
    expect(mail.received.slice(before)).toMatchObject([
      { from: 'fleet@fleet.example', to: [`home${round}@fleet.example`] },
    ]);
    expect(mail.received.at(-1)!.text).toContain('Subject: Test email from Flotilla');
  });

  it('LOGIN-enum: responds alike whether the address exists, as the mail server alone decides', async () => {
    await database.persistence.db.query('update person set email = $2 where id = $1', [
      personId,
      `gone${round}@nowhere.invalid`,
    ]);
    expect((await send()).status).toBe(204);
  });

  it('returns 502 without a mail server, however often it is requested', async () => {
    for (let attempt = 0; attempt < 12; attempt++) {
      expect((await send(other)).body).toMatchObject({ error: 'MailQueueUnavailable', code: 502 });
    }
  });

  it('fills no mailbox: ten an hour are sent for a person, whatever their address, at once or one by one', async () => {
    let nowMs = Date.now();
    const clock = { now: () => new Date(nowMs) };
    const timed = await createTestApp(database.persistence, { clock, settings: { smtpUrl: mail.url } });
    const before = mail.received.length;
    const first = await Promise.all(Array.from({ length: 8 }, () => send(timed)));
    expect(first.map(({ status }) => status)).toEqual(Array(8).fill(204));
    nowMs += 60_000;
    const rest = await Promise.all(Array.from({ length: 5 }, () => send(timed)));
    expect(rest.map(({ status }) => status).sort()).toEqual([204, 204, 429, 429, 429]);
    expect(mail.received).toHaveLength(before + 10);
    const rejected = await send(timed);
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(Number(rejected.headers.get('retry-after'))).toBe(59 * 60);
    const outsider = await createAccount(database.persistence.db, `else${round}`);
    const elsewhere = await timed.call('POST', '/person:test-email', { token: await timed.login(outsider) });
    expect(elsewhere.status).toBe(204);
    nowMs += 59 * 60_000;
    expect((await send(timed)).status).toBe(204);
    await timed.close();
  });

  it('returns 502 when the mail server rejects, is unavailable, or wants a login', async () => {
    const rejecting = await startMailServer({ onRcptTo: (_address, _session, done) => done(new Error('not here')) });
    const strict = await startMailServer({ authOptional: false });
    for (const smtpUrl of [rejecting.url, strict.url, 'smtp://127.0.0.1:1', 'smtp://mail.invalid:25']) {
      const broken = await createTestApp(database.persistence, { settings: { smtpUrl } });
      expect((await send(broken)).body).toMatchObject({ error: 'MailQueueUnavailable', code: 502 });
      await broken.close();
    }
    await Promise.all([rejecting.close(), strict.close()]);
  });

  it('returns 502 within seconds when the mail server hangs, while other routes respond', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const hanging = await createTestApp(database.persistence, { settings: { smtpUrl: `smtp://127.0.0.1:${port}` } });
    const pending = Promise.all(Array.from({ length: 50 }, () => send(hanging)));
    const other = hanging.call('GET', '/person', { token });
    expect(await Promise.race([other, pending])).toMatchObject({ status: 200 });
    const responses = await pending;
    // Ten of a person are let through, however many come at once.
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(40).fill(429), ...Array(10).fill(502)]);
    await hanging.close();
    silent.close();
  });
});
