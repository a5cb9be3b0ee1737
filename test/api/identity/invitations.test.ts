import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ADMIN, createAdmin, createTestApp, PUBLIC_URL, type TestApp } from '../../support/http/app.ts';
import { type MailServer, startMailServer } from '../../support/http/servers.ts';

let database: TestDatabase;
let app: TestApp;
let mail: MailServer;
let accountId: number;
let admin: string;
let nowMs = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  mail = await startMailServer();
  const clock = { now: () => new Date(nowMs) };
  app = await createTestApp(database.persistence, { clock, settings: { smtpUrl: mail.url } });
  admin = await app.login();
});

// The same guest is invited more often than one address may be in a day.
beforeEach(() => database.persistence.db.query('delete from invitation_mail'));

afterAll(async () => {
  await app?.close();
  await mail?.close();
  await database?.drop();
});

const GUEST = { name: 'Guest Two', email: 'guest@fleet.example' };
const invite = (body: object = GUEST, token = admin) => app.call('POST', '/invitations', { token, body });
const use = (verb: 'accept' | 'reject', token: string, invitation_id: string) =>
  app.call('POST', `/${verb}-invitation`, { token, body: { invitation_id } });
const rolesOf = async (email: string, account = accountId) =>
  (
    await database.persistence.db.query<{ roles: string[] }>(
      `select array(select r.name from membership_role mr join role r on r.id = mr.role_id
         where mr.person_id = p.id and mr.account_id = $2 order by 1) as roles
       from person p join membership m on m.person_id = p.id and m.account_id = $2 where p.email = $1`,
      [email, account],
    )
  )[0]?.roles;
const openInvitations = async () =>
  (await database.persistence.db.query<{ n: number }>('select count(*)::int as n from invitation'))[0]!.n;

/** Somebody of another account, who can be invited to ours. */
async function outsider(name: string): Promise<{ token: string; email: string; accountId: number }> {
  const other = await createAccount(database.persistence.db, name);
  return { token: await app.login(other), email: other.email, accountId: other.accountId };
}

describe('invitations', () => {
  it('are made, mailed, listed oldest first, read and withdrawn', async () => {
    const first = await invite({ ...GUEST, roles: ['Auditor', 'SupportAnalyst'] });
    expect(first.status).toBe(201);
    expect(first.body).toEqual({ id: expect.any(Number), secure_id: expect.stringMatching(/^[A-Za-z0-9]{30}$/) });
    const second = (await invite({ name: 'Later', email: 'later@fleet.example' })).body;
    await expect.poll(() => mail.received.length).toBe(2);
    const sent = mail.received.find(({ to }) => to[0] === GUEST.email)!;
    expect(sent.to).toEqual([GUEST.email]);
    expect(sent.text).toContain(first.body.secure_id);
    expect(sent.text.replaceAll('=\r\n', '')).toContain(`${PUBLIC_URL}/invitations/${first.body.secure_id}`);
    const { body } = await app.call('GET', '/invitations', { token: admin });
    expect(body).toMatchObject({ count: 2, next: null, previous: null });
    expect(body.results[0]).toEqual({
      ...first.body,
      account: 'Organization',
      name: GUEST.name,
      email: GUEST.email,
      creation_time: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      bind_to_email: false,
    });
    expect(body.results[1].id).toBe(second.id);
    expect((await app.call('GET', '/invitations?limit=1', { token: admin })).body.next).toContain('offset=1');
    const one = await app.call('GET', `/invitations/${second.id}`, { token: admin });
    expect(one.body).toEqual(body.results[1]);
    for (const { id } of [first.body, second]) {
      const removed = await app.call('DELETE', `/invitations/${id}`, { token: admin });
      expect([removed.status, removed.text]).toEqual([204, '']);
      expect((await app.call('DELETE', `/invitations/${id}`, { token: admin })).body.error).toBe('UnknownInvitation');
    }
    expect((await app.call('GET', `/invitations/${second.id}`, { token: admin })).body.error).toBe('UnknownInvitation');
  });

  it('are made though the mail cannot go out, and mailed again on request', async () => {
    const settings = { smtpUrl: 'smtp://127.0.0.1:1' };
    const mute = await createTestApp(database.persistence, { settings });
    try {
      const made = await mute.call('POST', '/invitations', { token: admin, body: GUEST });
      expect(made.status).toBe(201);
      const again = await mute.call('POST', `/invitations/${made.body.id}`, { token: admin });
      expect(again.body).toMatchObject({ error: 'MailQueueUnavailable', code: 502 });
      const before = mail.received.length;
      const sent = await app.call('POST', `/invitations/${made.body.id}`, { token: admin });
      expect(sent.status).toBe(200);
      expect(mail.received).toHaveLength(before + 1);
      expect(mail.received.at(-1)!.text).toContain(made.body.secure_id);
      await app.call('DELETE', `/invitations/${made.body.id}`, { token: admin });
    } finally {
      await mute.close();
    }
  });

  it('MAIL-inject: are rejected with more than one line or address', async () => {
    const names = ['Guest\r\nBcc: all@fleet.example', 'Guest\nX', 'Guest\u2028X', '  ', 'x'.repeat(256)];
    const emails = [
      'guest@fleet.example\r\nBcc: all@fleet.example',
      'a@fleet.example,b@fleet.example',
      'a,b@fleet.example',
      'a@fleet.example;b@fleet.example',
      '<evil@evil.example>guest@fleet.example',
      'group:a@fleet.example;',
      '"a b"@fleet.example',
      Array.from({ length: 1000 }, (_, i) => `g${i}@fleet.example`).join(','),
      `${'x'.repeat(250)}@fleet.example`,
      'nobody',
    ];
    const before = mail.received.length;
    for (const name of names)
      expect((await invite({ ...GUEST, name })).body).toMatchObject({ error: 'InvalidParameter' });
    for (const email of emails) {
      expect((await invite({ ...GUEST, email })).body, email).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    expect(await openInvitations()).toBe(0);
    expect(mail.received).toHaveLength(before);
  });

  it('need known roles, at least one', async () => {
    const unknown = await invite({ ...GUEST, roles: ['Auditor', 'Emperor'] });
    expect(unknown.body).toMatchObject({ error: 'UnknownRole', code: 400 });
    expect((await invite({ ...GUEST, roles: [] })).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect((await invite({ ...GUEST, roles: 'Auditor' })).body.error).toBe('InvalidParameter');
    expect((await invite({ name: 'x' })).body.error).toBe('InvalidParameter');
    expect(await openInvitations()).toBe(0);
  });

  it('give no role to those who may only read them', async () => {
    const { db } = database.persistence;
    const auditor = await app.login(
      await createMember(db, { accountId, email: 'reader@fleet.example', role: 'Auditor' }),
    );
    const { id } = (await invite()).body;
    const { body } = await app.call('GET', '/invitations', { token: auditor });
    expect(body.results).toEqual([expect.objectContaining({ id, secure_id: '' })]);
    expect((await app.call('GET', `/invitations/${id}`, { token: auditor })).body.secure_id).toBe('');
    for (const [method, path] of [
      ['POST', '/invitations'],
      ['POST', `/invitations/${id}`],
      ['DELETE', `/invitations/${id}`],
    ] as const) {
      expect((await app.call(method, path, { token: auditor, body: GUEST })).body.error).toBe('Forbidden');
    }
    await app.call('DELETE', `/invitations/${id}`, { token: admin });
  });

  it('show their account before any login', async () => {
    const { id, secure_id } = (await invite()).body;
    const { body } = await app.call('GET', `/invitations/${secure_id}/summary`);
    expect(body).toEqual({ account_title: 'Organization', secure_id });
    expect((await app.call('GET', `/invitations/${id}/summary`)).body.error).toBe('UnknownInvitation');
    await app.call('DELETE', `/invitations/${id}`, { token: admin });
  });
});

describe('an invitation', () => {
  it('makes whoever has it an administrator, without switching account', async () => {
    const guest = await outsider('joiner');
    const { secure_id } = (await invite({ ...GUEST, roles: ['Auditor'] })).body;
    const accepted = await use('accept', guest.token, secure_id);
    expect(accepted.body).toEqual({ account_id: accountId, account_title: 'Organization' });
    expect(await rolesOf(guest.email)).toEqual(['Auditor']);
    const { body } = await app.call('GET', '/administrators', { token: guest.token });
    expect(body.results.map((a: { email: string }) => a.email)).toEqual([guest.email]);
    const again = await app.call('POST', '/login', { body: { email: guest.email, password: PASSWORD } });
    expect(again.body.accounts.map((a: { name: string }) => a.name)).toEqual(['joiner', 'standalone']);
  });

  it('gives a member its roles besides their own', async () => {
    const { db } = database.persistence;
    const member = await createMember(db, { accountId, email: 'member@fleet.example', role: 'Auditor' });
    const token = await app.login(member);
    const { secure_id } = (await invite({ ...GUEST, roles: ['SupportAnalyst', 'SupportAnalyst'] })).body;
    expect((await use('accept', token, secure_id)).status).toBe(200);
    expect(await rolesOf(member.email)).toEqual(['Auditor', 'SupportAnalyst']);
    nowMs += 2000;
    const after = await app.call('GET', '/access-groups', { token });
    expect(after.status).toBe(200);
  });

  it('INVITE-replay: works once, whoever of many comes first', async () => {
    const guests = await Promise.all(['race1', 'race2', 'race3', 'race4'].map(outsider));
    const { secure_id } = (await invite()).body;
    const responses = await Promise.all(guests.map(({ token }) => use('accept', token, secure_id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    const joined = await Promise.all(guests.map(({ email }) => rolesOf(email)));
    expect(joined.filter((roles) => roles !== undefined)).toEqual([['GlobalAdmin']]);
    for (const { token } of guests) {
      expect((await use('accept', token, secure_id)).body).toMatchObject({ error: 'UnknownInvitation', code: 404 });
      expect((await use('reject', token, secure_id)).body.error).toBe('UnknownInvitation');
    }
    expect((await app.call('GET', `/invitations/${secure_id}/summary`)).status).toBe(404);
  });

  it('INVITE-replay: does not exist once rejected or withdrawn, like one that never existed', async () => {
    const guest = await outsider('declines');
    const rejected = (await invite()).body;
    const response = await use('reject', guest.token, rejected.secure_id);
    expect([response.status, response.text]).toEqual([204, '']);
    const withdrawn = (await invite()).body;
    await app.call('DELETE', `/invitations/${withdrawn.id}`, { token: admin });
    const texts = await Promise.all(
      [rejected.secure_id, withdrawn.secure_id, 'x'.repeat(30)].map(
        async (id) => (await use('accept', guest.token, id)).text,
      ),
    );
    expect(new Set(texts).size).toBe(1);
    expect(await rolesOf(guest.email)).toBeUndefined();
    expect(await openInvitations()).toBe(0);
  });

  it('INVITE-replay: has an id of more than 128 random bits', async () => {
    // One after the other: sixty at once wait for each other's connections, which a busy machine may not grant in time.
    const made: Array<{ id: number; secure_id: string }> = [];
    while (made.length < 60) {
      const response = await invite({ ...GUEST, email: `guest${made.length}@fleet.example` });
      expect(response.status, response.text).toBe(201);
      made.push(response.body);
    }
    const ids = made.map(({ secure_id }) => secure_id);
    const counts = new Map<string, number>();
    for (const character of ids.join('')) counts.set(character, (counts.get(character) ?? 0) + 1);
    const total = 60 * 30;
    const bits = [...counts.values()].reduce((sum, n) => sum - (n / total) * Math.log2(n / total), 0);
    // 62 letters and digits would be 5.95 bits each; 1,800 draws show a little less.
    expect(bits * 30).toBeGreaterThan(128);
    for (let place = 0; place < 30; place++) expect(new Set(ids.map((id) => id[place])).size).toBeGreaterThan(20);
    const halves = ids.flatMap((id) => [id.slice(0, 15), id.slice(15)]);
    expect(new Set(halves).size).toBe(120);
    for (const { id } of made) await app.call('DELETE', `/invitations/${id}`, { token: admin });
  });

  it('INVITE-replay: cannot be guessed: 20 failures in five minutes end the trying, for this person alone', async () => {
    const guesser = await outsider('guesser');
    const honest = await outsider('honest');
    const { secure_id } = (await invite()).body;
    const statuses: number[] = [];
    for (let i = 0; i < 25; i++) statuses.push((await use('accept', guesser.token, `guess${i}`)).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(404));
    expect(statuses.slice(20)).toEqual(Array(5).fill(429));
    const late = await use('accept', guesser.token, secure_id);
    expect(late.status).toBe(429);
    expect((await use('reject', guesser.token, secure_id)).body.error).toBe('TooManyRequests');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await use('accept', honest.token, secure_id)).status).toBe(200);
  });

  it('INVITE-replay: summaries cannot be guessed without login either', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 25; i++) statuses.push((await app.call('GET', `/invitations/guess${i}/summary`)).status);
    expect(statuses.at(0)).toBe(404);
    expect(statuses.at(-1)).toBe(429);
    const { id, secure_id } = (await invite()).body;
    expect((await app.call('GET', `/invitations/${secure_id}/summary`)).status).toBe(429);
    const newcomer = { email: 'guessing@fleet.example', password: PASSWORD, invitation_id: secure_id };
    const joining = await app.call('POST', '/login', { body: newcomer });
    expect([joining.status, joining.body.error]).toEqual([429, 'TooManyRequests']);
    expect(await openInvitations()).toBe(1);
    await app.call('DELETE', `/invitations/${id}`, { token: admin });
    expect(await app.login(ADMIN)).toBeTruthy();
  });

  it('PROTO: takes only letters and digits for an id', async () => {
    for (const invitation_id of ['', "' or 1=1 --", '%', 'a'.repeat(256), 7, null, { $ne: '' }, ['x']]) {
      const { body } = await app.call('POST', '/accept-invitation', { token: admin, body: { invitation_id } });
      expect(body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
  });

  it('leaves its story in the event log, without its secret', async () => {
    const guest = await outsider('storied');
    const { secure_id } = (await invite({ name: 'Storied', email: guest.email, roles: ['Auditor'] })).body;
    await use('accept', guest.token, secure_id);
    const events = await database.persistence.db.query<{ message: string; address: string; text: string }>(
      `select message, address, event::text as text from event where account_id = $1 and entity_type = 'Invitation' order by id desc limit 2`,
      [accountId],
    );
    expect(events.map(({ message }) => message)).toEqual([
      `Administrator of storied <${guest.email}> accepted an invitation and is an administrator now`,
      `Invited Storied <${guest.email}> as Auditor`,
    ]);
    expect(events[0]!.address).toContain('127.0.0.1');
    expect(JSON.stringify(events)).not.toContain(secure_id);
  });
});
