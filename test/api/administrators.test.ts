import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockRights } from '../../src/persistence/repositories/rights-lock.ts';
import { createAccount, createGroup, createMember } from '../support/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let adminId: number;
let admin: string;
let nowMs = Date.now();
const clock = { now: () => new Date(nowMs) };

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId, personId: adminId } = await createAdmin(database.persistence));
  await createGroup(database.persistence.db, accountId, 'servers');
  app = await createTestApp(database.persistence, { clock });
  admin = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const member = (name: string, role: string) =>
  createMember(database.persistence.db, { accountId, email: `${name}@fleet.example`, role });
const setRoles = (id: number, roles: unknown, token = admin) =>
  app.call('PUT', `/administrators/${id}`, { token, body: { roles } });
const role = (method: string, name: string, body?: object) =>
  app.call(method, `/roles${name === '' ? '' : `/${encodeURIComponent(name)}`}`, { token: admin, body });

describe('administrators', () => {
  it('are listed by id with their roles in alphabetical order', async () => {
    const { personId } = await member('two-roles', 'SupportAnalyst');
    expect((await setRoles(personId, ['SupportAnalyst', 'Auditor', 'Auditor'])).body).toEqual({
      id: personId,
      name: 'Member',
      email: 'two-roles@fleet.example',
      roles: ['Auditor', 'SupportAnalyst'],
    });
    const { body } = await app.call('GET', '/administrators', { token: admin });
    expect(body).toMatchObject({ count: 2, next: null, previous: null });
    expect(body.results[0]).toEqual({ id: adminId, name: ADMIN.name, email: ADMIN.email, roles: ['GlobalAdmin'] });
    expect((await app.call('GET', '/administrators?limit=1&offset=1', { token: admin })).body.results).toHaveLength(1);
  });

  it('get other roles at once in the answer and on tokens in use', async () => {
    const person = await member('changing', 'Auditor');
    const token = await app.login(person);
    expect((await app.call('GET', '/roles', { token })).status).toBe(200);
    expect((await setRoles(person.personId, ['SupportAnalyst'])).status).toBe(200);
    expect((await app.call('GET', '/roles', { token })).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await app.call('GET', '/computers', { token })).status).toBe(200);
    await setRoles(person.personId, ['GlobalAdmin']);
    expect((await app.call('GET', '/roles', { token })).status).toBe(200);
    await setRoles(person.personId, ['Auditor']);
  });

  it('are refused unknown roles, none, and people outside the account', async () => {
    const { personId } = await member('steady', 'Auditor');
    const outsider = await createAccount(database.persistence.db, 'outside');
    expect((await setRoles(personId, ['Emperor'])).body).toMatchObject({ error: 'UnknownRole', code: 400 });
    for (const roles of [[], null, 'Auditor', [1], [null], undefined]) {
      expect((await setRoles(personId, roles)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    const foreign = await setRoles(outsider.personId, ['Auditor']);
    const never = await setRoles(2_000_000_000, ['Auditor']);
    expect(foreign.body).toMatchObject({ error: 'UnknownPerson', code: 404 });
    expect(foreign.text).toBe(never.text);
    const { body } = await app.call('GET', '/administrators', { token: admin });
    expect(body.results.find((a: { id: number }) => a.id === personId).roles).toEqual(['Auditor']);
  });

  it('JWT-revoked: who loses a role is forbidden what it gave within five seconds, on every process', async () => {
    const second = await createTestApp(database.persistence, { clock });
    const someone = await member('loses', 'GlobalAdmin');
    const token = await app.login(someone);
    for (const on of [app, second]) expect((await on.call('GET', '/preferences', { token })).status).toBe(200);
    await setRoles(someone.personId, ['Auditor']);
    nowMs += 5000;
    for (const on of [app, second]) {
      expect((await on.call('GET', '/preferences', { token })).body).toMatchObject({ error: 'Forbidden', code: 403 });
      expect((await on.call('GET', '/roles', { token })).status).toBe(200);
    }
    await second.close();
  });

  it('JWT-revoked: who is demoted or removed cannot act any more, not even where their rights are still remembered', async () => {
    const second = await createTestApp(database.persistence, { clock });
    const [demoted, removed] = [await member('demoted', 'GlobalAdmin'), await member('removed', 'GlobalAdmin')];
    const tokens = await Promise.all([demoted, removed].map((person) => app.login(person)));
    for (const token of tokens) expect((await second.call('GET', '/roles', { token })).status).toBe(200);
    await setRoles(demoted.personId, ['Auditor']);
    await app.call('DELETE', `/administrators/${removed.personId}`, { token: admin });
    // The other process goes on by what it has read, as far as reading goes.
    for (const token of tokens) expect((await second.call('GET', '/roles', { token })).status).toBe(200);
    const invitation = { name: 'Back', email: 'back@fleet.example' };
    const answers = await Promise.all(
      tokens.flatMap((token) => [
        second.call('POST', '/invitations', { token, body: invitation }),
        second.call('PUT', `/administrators/${demoted.personId}`, { token, body: { roles: ['GlobalAdmin'] } }),
      ]),
    );
    await second.close();
    expect(answers.slice(0, 2).map(({ body }) => body.error)).toEqual(['Forbidden', 'Forbidden']);
    expect(answers.slice(2, 4).map(({ body }) => body.error)).toEqual(['Unauthorized', 'Unauthorized']);
    expect((await app.call('GET', '/invitations', { token: admin })).body.count).toBe(0);
  });

  it('JWT-revoked: cannot act by a request that they began before', async () => {
    const slow = await member('slow', 'GlobalAdmin');
    const token = await app.login(slow);
    const body = JSON.stringify({ title: 'Kept up my sleeve', code: '#!/bin/sh\ntrue' });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(`${app.url}/api/v2/scripts`, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    await new Promise((resolve) => sent.write(body.slice(0, -1), resolve));
    await setTimeout(300);
    await app.call('DELETE', `/administrators/${slow.personId}`, { token: admin });
    sent.end('}');
    expect((await answered)[0].statusCode).toBe(401);
    expect((await app.call('GET', '/scripts', { token: admin })).body.count).toBe(0);
  });

  it('cannot change rights when theirs went while they waited for their turn', async () => {
    const late = await member('late', 'GlobalAdmin');
    const token = await app.login(late);
    const { db } = database.persistence;
    const waiting = await db.transaction(async (tx) => {
      await lockRights(tx, accountId);
      const answer = app.call('POST', '/access-groups', { token, body: { title: 'Too late' } });
      await untilBlocked(db);
      await tx.query('delete from membership where account_id = $1 and person_id = $2', [accountId, late.personId]);
      return { answer };
    });
    expect((await waiting.answer).body).toMatchObject({ error: 'Unauthorized', code: 401 });
    expect((await app.call('GET', '/access-groups/too-late', { token: admin })).status).toBe(404);
  });

  it('JWT-revoked: are removed: their tokens end, their person and other accounts stay', async () => {
    const other = await createAccount(database.persistence.db, 'elsewhere');
    const { db } = database.persistence;
    await db.query('insert into membership (account_id, person_id) values ($1, $2)', [accountId, other.personId]);
    const answer = await app.call('POST', '/login', { body: { ...pick(other), account: 'standalone' } });
    const token = answer.body.token;
    await db.query('update person set preferred_account_id = $1 where id = $2', [accountId, other.personId]);
    const gone = await app.call('DELETE', `/administrators/${other.personId}`, { token: admin });
    expect([gone.status, gone.text]).toEqual([204, '']);
    nowMs += 2000;
    expect((await app.call('GET', '/access-groups', { token })).body.error).toBe('Unauthorized');
    const login = (await app.call('POST', '/login', { body: pick(other) })).body;
    expect(login.current_account).toBe('elsewhere');
    const again = await app.call('DELETE', `/administrators/${other.personId}`, { token: admin });
    expect(again.body.error).toBe('UnknownPerson');
  });

  it('LAST-admin: never lose the last GlobalAdmin', async () => {
    const before = (await app.call('GET', '/administrators', { token: admin })).text;
    expect((await setRoles(adminId, ['Auditor'])).body).toMatchObject({ error: 'LastGlobalAdmin', code: 409 });
    const removed = await app.call('DELETE', `/administrators/${adminId}`, { token: admin });
    expect(removed.body).toMatchObject({ error: 'LastGlobalAdmin', code: 409 });
    expect((await app.call('GET', '/administrators', { token: admin })).text).toBe(before);
  });

  it('LAST-admin: not even when all of them go at the same moment', async () => {
    const second = await createTestApp(database.persistence, { clock });
    const rivals = await Promise.all(['a', 'b', 'c'].map((name) => member(`rival-${name}`, 'GlobalAdmin')));
    const people = [
      { id: adminId, token: admin },
      ...(await Promise.all(rivals.map(async (rival) => ({ id: rival.personId, token: await app.login(rival) })))),
    ];
    const answers = await Promise.all(
      people.map(({ id, token }, index) => {
        const on = index % 2 === 0 ? app : second;
        return index < 2
          ? on.call('PUT', `/administrators/${id}`, { token, body: { roles: ['Auditor'] } })
          : on.call('DELETE', `/administrators/${id}`, { token });
      }),
    );
    await second.close();
    expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
    const left = await database.persistence.db.query<{ person_id: number }>(
      `select person_id from membership_role mr join role r on r.id = mr.role_id
       where r.account_id = $1 and r.name = 'GlobalAdmin'`,
      [accountId],
    );
    expect(left).toHaveLength(1);
    await database.persistence.db.query(
      `insert into membership (account_id, person_id) values ($1, $2) on conflict do nothing`,
      [accountId, adminId],
    );
    await database.persistence.db.query(
      `insert into membership_role select $1, $2, id from role where account_id = $1 and name = 'GlobalAdmin'
       on conflict do nothing`,
      [accountId, adminId],
    );
    nowMs += 2000;
  });
});

describe('roles', () => {
  it('are seeded, shown with holders and groups, and made by administrators', async () => {
    const seeded = (await role('GET', '')).body.results;
    expect(seeded.map((r: { name: string }) => r.name)).toEqual([
      'GlobalAdmin',
      'Auditor',
      'SupportAnalyst',
      'ServerAdmin',
      'DesktopAdmin',
    ]);
    expect(seeded[0].persons).toContain(ADMIN.email);
    const made = await role('POST', '', {
      name: 'Janitor / nights',
      description: 'Cleans',
      permissions: ['ViewComputer', 'ViewComputer'],
      global_permissions: ['ViewRole'],
      access_groups: ['servers'],
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      name: 'Janitor / nights',
      description: 'Cleans',
      permissions: ['ViewComputer'],
      global_permissions: ['ViewRole'],
      access_groups: ['servers'],
      persons: [],
    });
    const plain = (await role('POST', '', { name: 'Plain' })).body;
    expect(plain).toMatchObject({ permissions: [], global_permissions: [], access_groups: ['global'] });
    expect((await role('POST', '', { name: 'Plain' })).body).toMatchObject({ error: 'DuplicateRole', code: 409 });
  });

  it('are changed for all who hold them', async () => {
    await role('POST', '', { name: 'Reader' });
    const person = await member('reader', 'Reader');
    const token = await app.login(person);
    expect((await app.call('GET', '/computers', { token })).body.error).toBe('Forbidden');
    const changed = await role('PATCH', 'Reader', { permissions: ['ViewComputer'], description: null });
    expect(changed.body).toMatchObject({ permissions: ['ViewComputer'], persons: [person.email] });
    nowMs += 2000;
    expect((await app.call('GET', '/computers', { token })).status).toBe(200);
    const scoped = await role('PATCH', 'Reader', { access_groups: ['servers'] });
    expect(scoped.body).toMatchObject({ permissions: ['ViewComputer'], access_groups: ['servers'] });
  });

  it('are refused with unknown permissions, permissions of the other kind, and unknown groups', async () => {
    const before = (await role('GET', '')).text;
    for (const body of [
      { permissions: ['FlyToTheMoon'] },
      { permissions: ['ManageRole'] },
      { global_permissions: ['ViewComputer'] },
      { permissions: ['__proto__'] },
      { permissions: 'ViewComputer' },
      { description: 'x'.repeat(1001) },
    ]) {
      expect((await role('PATCH', 'Auditor', body)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
      expect((await role('POST', '', { name: 'New', ...body })).body).toMatchObject({ error: 'InvalidParameter' });
    }
    for (const name of ['', '  ', 'a\nb', 'x'.repeat(256)]) {
      expect((await role('POST', '', { name })).body).toMatchObject({ error: 'InvalidParameter' });
    }
    const unknown = await role('PATCH', 'Auditor', { access_groups: ['servers', 'nowhere'] });
    expect(unknown.body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await role('PATCH', 'Nobody', {})).body).toMatchObject({ error: 'UnknownRole', code: 404 });
    expect((await role('DELETE', 'Nobody')).body).toMatchObject({ error: 'UnknownRole', code: 404 });
    expect((await role('GET', '')).text).toBe(before);
  });

  it('stay as they are when read-only', async () => {
    const change = await role('PATCH', 'GlobalAdmin', { permissions: [] });
    expect(change.body).toMatchObject({ error: 'RoleReadOnly', code: 400 });
    expect((await role('DELETE', 'GlobalAdmin')).body).toMatchObject({ error: 'RoleReadOnly', code: 400 });
  });

  it('go only while nobody depends on them', async () => {
    await role('POST', '', { name: 'Only' });
    const person = await member('only', 'Only');
    expect((await role('DELETE', 'Only')).body).toMatchObject({ error: 'RoleInUse', code: 409 });
    await setRoles(person.personId, ['Only', 'Auditor']);
    const invitation = { name: 'G', email: 'g@fleet.example', roles: ['Only'] };
    const { id } = (await app.call('POST', '/invitations', { token: admin, body: invitation })).body;
    expect((await role('DELETE', 'Only')).body).toMatchObject({ error: 'RoleInUse', code: 409 });
    await app.call('DELETE', `/invitations/${id}`, { token: admin });
    const gone = await role('DELETE', 'Only');
    expect([gone.status, gone.text]).toEqual([204, '']);
    const { body } = await app.call('GET', '/administrators', { token: admin });
    expect(body.results.find((a: { email: string }) => a.email === person.email).roles).toEqual(['Auditor']);
  });

  it('have permissions that can be listed', async () => {
    const { body } = await app.call('GET', '/permissions', { token: admin });
    expect(body.count).toBe(15);
    expect(body.results[0]).toEqual({ name: 'ViewComputer', title: 'View computer', global: false });
    expect(body.results.at(-1)).toEqual({ name: 'ManageSecrets', title: 'Manage secrets', global: true });
  });

  it('leave every change in the event log', async () => {
    const events = await database.persistence.db.query<{ message: string }>(
      `select message from event where account_id = $1 and entity_type in ('Role', 'Administrator') order by id`,
      [accountId],
    );
    const messages = events.map(({ message }) => message);
    expect(messages).toContain('Removed the role Only');
    expect(messages).toContain('Changed the roles of Member from Auditor to SupportAnalyst');
    expect(messages).toContain('Created the role Plain with no permission on global');
  });
});

function pick({ email, password }: { email: string; password: string }) {
  return { email, password };
}
