import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
let nowMs = Date.now();
const clock = { now: () => new Date(nowMs) };

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
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

  it('are rejected with unknown permissions, permissions of the other kind, and unknown groups', async () => {
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
    expect((await role('POST', '', { name: 'New', description: '😀'.repeat(1001) })).status).toBe(400);
    for (const name of ['', '  ', 'a\nb', 'x'.repeat(256)]) {
      expect((await role('POST', '', { name })).body).toMatchObject({ error: 'InvalidParameter' });
    }
    const unknown = await role('PATCH', 'Auditor', { access_groups: ['servers', 'nowhere'] });
    expect(unknown.body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await role('PATCH', 'Nobody', {})).body).toMatchObject({ error: 'UnknownRole', code: 404 });
    expect((await role('DELETE', 'Nobody')).body).toMatchObject({ error: 'UnknownRole', code: 404 });
    expect((await role('GET', '')).text).toBe(before);
    expect((await role('POST', '', { name: 'Long', description: '😀'.repeat(1000) })).status).toBe(201);
    expect((await role('DELETE', 'Long')).status).toBe(204);
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
    const removed = await role('DELETE', 'Only');
    expect([removed.status, removed.text]).toEqual([204, '']);
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
    expect(messages).toContain('Changed the roles of Member from Only to Auditor, Only');
    expect(messages).toContain('Created the role Plain with no permission on global');
  });
});
