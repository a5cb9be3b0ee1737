import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ADMIN, createAdmin, createTestApp, PUBLIC_URL, type TestApp } from '../../support/http/app.ts';
import { type MailServer, startMailServer } from '../../support/http/servers.ts';

const HOUR_MS = 60 * 60_000;

let database: TestDatabase;
let mail: MailServer;
/** With a mail server, and without. */
let app: TestApp;
let mute: TestApp;
let nowMs = Date.now();
let accountId: number;
let personId: number;
let email: string;
let token: string;
let round = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  mail = await startMailServer();
  const clock = { now: () => new Date(nowMs) };
  app = await createTestApp(database.persistence, { clock, settings: { smtpUrl: mail.url } });
  mute = await createTestApp(database.persistence, { clock });
});

beforeEach(async () => {
  const { db } = database.persistence;
  const member = await createMember(db, { accountId, email: `person${++round}@fleet.example`, role: 'Auditor' });
  ({ personId, email } = member);
  token = await app.login(member);
  mail.received.length = 0;
});

afterAll(async () => {
  await app?.close();
  await mute?.close();
  await mail?.close();
  await database?.drop();
});

const edit = (body: unknown, to = app, as = token) => to.call('POST', '/person', { token: as, body });
const read = async (as = token) => (await app.call('GET', '/person', { token: as })).body;
const confirm = (text: unknown, as = token) =>
  app.call('POST', '/person:confirm-email', { token: as, body: { token: text } });
const login = (body: object) => app.call('POST', '/login', { body });
/** The token in the latest mail to an address. */
const tokenTo = (address: string) => {
  const sent = mail.received.findLast(({ to }) => to[0]!.toLowerCase() === address.toLowerCase())!;
  return /^Token: (\S+)$/m.exec(sent.text)![1]!;
};
const messages = async (count: number) =>
  (await database.persistence.db.query('select message from event order by id desc limit $1', [count])).map(
    ({ message }) => message,
  );

describe('a new email address', () => {
  it('holds once the token that was mailed to it is confirmed, and the former one is notified and free', async () => {
    const wanted = `New.Person${round}@fleet.example`;
    const before = await read();
    const response = await edit({ email: `  ${wanted} `, name: 'Ada' });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ ...before, name: 'Ada', pending_email: wanted });
    expect(await read()).toEqual(response.body);
    expect((await login({ email: wanted, password: PASSWORD })).status).toBe(401);
    expect((await login({ email, password: PASSWORD })).status).toBe(200);
    expect(mail.received.map(({ to }) => to)).toEqual([[wanted]]);
    expect(mail.received[0]!.text.replace(/=\r\n/g, '')).toContain(`POST ${PUBLIC_URL}/api/v2/person:confirm-email`);
    expect(mail.received[0]!.text).not.toContain('Ada');
    const confirmed = await confirm(tokenTo(wanted));
    expect(confirmed.status).toBe(200);
    expect(confirmed.body).toEqual({
      ...response.body,
      email: wanted,
      allowable_emails: [wanted],
      pending_email: null,
    });
    expect(await read()).toEqual(confirmed.body);
    expect((await login({ email: wanted.toLowerCase(), password: PASSWORD })).status).toBe(200);
    expect((await login({ email, password: PASSWORD })).status).toBe(401);
    await expect.poll(() => mail.received.map(({ to }) => to)).toEqual([[wanted], [email]]);
    expect((await confirm(tokenTo(wanted))).body).toMatchObject({ error: 'UnknownEmailChange', code: 404 });
    const next = await createAccount(database.persistence.db, `next${round}`);
    const theirs = await app.login(next);
    expect((await edit({ email: email.toUpperCase() }, app, theirs)).body.pending_email).toBe(email.toUpperCase());
    expect((await confirm(tokenTo(email.toUpperCase()), theirs)).body.email).toBe(email.toUpperCase());
  });

  it('leaves a line in the log when it is wanted and when it holds, without its token', async () => {
    const wanted = `logged${round}@fleet.example`;
    await edit({ email: wanted });
    await confirm(tokenTo(wanted));
    expect(await messages(2)).toEqual([
      `Changed the email address of Member from ${email} to ${wanted}, which was confirmed`,
      `Changed nothing of the own person, and requested ${wanted} as email address`,
    ]);
    const { db } = database.persistence;
    await edit({ email: `again${round}@fleet.example` });
    const secret = tokenTo(`again${round}@fleet.example`);
    const rows = await db.query(
      'select row_to_json(c)::text as t from email_change c union all select row_to_json(e)::text from event e',
    );
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('waits for 24 hours, and another one takes its place', async () => {
    const [first, second] = [`first${round}@fleet.example`, `second${round}@fleet.example`];
    await edit({ email: first });
    await edit({ email: second });
    expect((await confirm(tokenTo(first))).status).toBe(404);
    expect((await read()).pending_email).toBe(second);
    nowMs += 24 * HOUR_MS;
    token = await app.login({ email, password: PASSWORD });
    expect((await read()).pending_email).toBeNull();
    expect((await confirm(tokenTo(second))).body.error).toBe('UnknownEmailChange');
    expect((await read()).email).toBe(email);
  });

  it('is withdrawn by the present one, which may be written otherwise at once', async () => {
    await edit({ email: `third${round}@fleet.example` });
    const response = await edit({ email: email.toUpperCase() });
    expect(response.body).toMatchObject({
      email: email.toUpperCase(),
      allowable_emails: [email.toUpperCase()],
      pending_email: null,
    });
    expect((await confirm(tokenTo(`third${round}@fleet.example`))).status).toBe(404);
    expect(mail.received).toHaveLength(1);
  });

  it('is confirmed by nobody else, and by no other text', async () => {
    const wanted = `mine${round}@fleet.example`;
    await edit({ email: wanted });
    const outsider = await app.login(await createAccount(database.persistence.db, `stranger${round}`));
    expect((await confirm(tokenTo(wanted), outsider)).body.error).toBe('UnknownEmailChange');
    for (const text of [`${tokenTo(wanted)}x`, 'x', wanted]) expect((await confirm(text)).status).toBe(404);
    for (const text of ['', null, 7, 'x'.repeat(256)])
      expect((await confirm(text)).body.error).toBe('InvalidParameter');
    expect((await confirm(tokenTo(wanted))).status).toBe(200);
  });

  it('is rejected when somebody has it, in any case, and goes to one of two who want it', async () => {
    const taken = await createAccount(database.persistence.db, `taken${round}`);
    for (const address of [taken.email, ` ${taken.email.toUpperCase()}`]) {
      expect((await edit({ email: address })).body).toMatchObject({ error: 'DuplicateEmail', code: 409 });
    }
    const theirs = await app.login(taken);
    const wanted = `both${round}@fleet.example`;
    await edit({ email: wanted });
    const mine = tokenTo(wanted);
    await edit({ email: wanted.toUpperCase() }, app, theirs);
    const responses = await Promise.all([confirm(mine), confirm(tokenTo(wanted.toUpperCase()), theirs)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(responses.find(({ status }) => status === 409)!.body.error).toBe('DuplicateEmail');
  });

  it('changes nothing at all when the mail server does not take the mail', async () => {
    const rejecting = await startMailServer({ onRcptTo: (_address, _session, done) => done(new Error('not here')) });
    const clock = { now: () => new Date(nowMs) };
    const broken = await createTestApp(database.persistence, { clock, settings: { smtpUrl: rejecting.url } });
    const before = await read();
    for (let n = 0; n < 12; n++) {
      const response = await edit({ email: `lost${round}@fleet.example`, name: 'Lost' }, broken);
      expect(response.body).toMatchObject({ error: 'MailQueueUnavailable', code: 502 });
    }
    const wrong = await edit({ email: `lost${round}@fleet.example`, preferred_account: 'nobodys' });
    expect(wrong.body.error).toBe('InvalidParameter');
    expect(await read()).toEqual(before);
    expect(mail.received.flatMap(({ to }) => to)).not.toContain(`lost${round}@fleet.example`);
    await broken.close();
    await rejecting.close();
  });

  it('LOGIN-enum, MAIL-inject: ten an hour can be tried, whether they are taken or not, test mails included', async () => {
    const taken = await createAccount(database.persistence.db, `known${round}`);
    const wishes = Array.from({ length: 12 }, (_, n) => (n % 2 ? taken.email : `free${round}x${n}@fleet.example`));
    const statuses: number[] = [];
    for (const wish of wishes) statuses.push((await edit({ email: wish })).status);
    expect(statuses).toEqual([200, 409, 200, 409, 200, 409, 200, 409, 200, 409, 429, 429]);
    const rejected = await edit({ email: taken.email });
    expect(rejected.body).toMatchObject({ error: 'TooManyRequests', code: 429 });
    expect(Number(rejected.headers.get('retry-after'))).toBe(3600);
    expect((await app.call('POST', '/person:test-email', { token })).status).toBe(429);
    expect(mail.received).toHaveLength(5);
    expect((await edit({ name: 'Still' })).status).toBe(200);
    nowMs += HOUR_MS + 1000;
    expect((await edit({ email: `later${round}@fleet.example` })).status).toBe(200);
  });
});

describe('without a mail server', () => {
  const confirmFor = (as: string, body: unknown, id = personId, to = mute) =>
    to.call('POST', `/administrators/${id}:confirm-email`, { token: as, body });

  it('an administrator confirms the new address of another', async () => {
    const admin = await mute.login();
    const wanted = `Quiet${round}@fleet.example`;
    expect((await edit({ email: wanted }, mute)).body).toMatchObject({ email, pending_email: wanted });
    const other = await confirmFor(admin, { email: `other${round}@fleet.example` });
    expect(other.body).toMatchObject({ error: 'UnknownEmailChange', code: 404 });
    const response = await confirmFor(admin, { email: ` ${wanted.toLowerCase()} ` });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ id: personId, name: 'Member', email: wanted, roles: ['Auditor'] });
    expect(await read()).toMatchObject({ email: wanted, allowable_emails: [wanted], pending_email: null });
    expect((await confirmFor(admin, { email: wanted })).body.error).toBe('UnknownEmailChange');
    expect((await messages(1))[0]).toContain(`from ${email} to ${wanted}, which was confirmed`);
    const [event] = await database.persistence.db.query(
      'select person_name, entity_id from event order by id desc limit 1',
    );
    expect(event).toEqual({ person_name: ADMIN.name, entity_id: personId });
  });

  it('nobody confirms it who may not give roles, who is elsewhere, or where mail goes out', async () => {
    const { db } = database.persistence;
    const wanted = `guarded${round}@fleet.example`;
    await edit({ email: wanted }, mute);
    expect((await confirmFor(token, { email: wanted })).body).toMatchObject({ error: 'Forbidden', code: 403 });
    const admin = await mute.login();
    expect((await confirmFor(admin, { email: wanted }, personId, app)).body).toMatchObject({ error: 'Forbidden' });
    const account = await createAccount(db, `elsewhere${round}`);
    const elsewhere = await mute.login(account);
    await edit({ email: `free${round}@fleet.example` }, mute, elsewhere);
    const own = await confirmFor(elsewhere, { email: `free${round}@fleet.example` }, account.personId);
    expect(own.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await confirmFor(admin, { email: `free${round}@fleet.example` }, account.personId)).body).toMatchObject({
      error: 'UnknownPerson',
      code: 404,
    });
    expect((await confirmFor(admin, { email: 'nobody' })).body.error).toBe('InvalidParameter');
    expect((await read()).email).toBe(email);
  });

  it('the only administrator can change the own address', async () => {
    const admin = await mute.login();
    const wanted = `boss${round}@fleet.example`;
    const { id } = (await mute.call('GET', '/administrators', { token: admin })).body.results[0];
    await edit({ email: wanted }, mute, admin);
    expect((await confirmFor(admin, { email: wanted }, id)).body.email).toBe(wanted);
    await edit({ email: ADMIN.email }, mute, admin);
    expect((await confirmFor(admin, { email: ADMIN.email }, id)).status).toBe(200);
  });

  it('a token that was mailed before still confirms', async () => {
    const wanted = `before${round}@fleet.example`;
    await edit({ email: wanted });
    const response = await mute.call('POST', '/person:confirm-email', { token, body: { token: tokenTo(wanted) } });
    expect(response.body.email).toBe(wanted);
  });
});

describe('an address', () => {
  it('is trimmed and compared without case wherever it is given', async () => {
    const admin = await app.login();
    const form = ` ${email.toUpperCase()}\t`;
    const byEmail = await login({ email: form, password: PASSWORD });
    expect(byEmail.body.email).toBe(email);
    expect((await login({ identity: form, password: PASSWORD })).body.email).toBe(email);
    const invited = await app.call('POST', '/invitations', { token: admin, body: { name: 'X', email: form } });
    const shown = await app.call('GET', `/invitations/${invited.body.id}`, { token: admin });
    expect(shown.body.email).toBe(form.trim());
    const computer = await insertComputer(database.persistence.db, { accountId });
    const action = { computer_ids: [computer], action: 'install', snaps: [{ name: 'hello' }] };
    expect((await app.call('POST', '/snaps', { token: admin, body: action })).status).toBe(200);
    const query = encodeURIComponent(`creator:" ${ADMIN.email.toUpperCase()} "`);
    const made = await app.call('GET', `/activities?query=${query}`, { token: admin });
    expect(made.body.count).toBe(2);
    const { body } = await edit({ email: ` trimmed${round}@Fleet.example ` });
    expect(body.pending_email).toBe(`trimmed${round}@Fleet.example`);
  });
});
