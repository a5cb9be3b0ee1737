import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGroup, createMember } from '../../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
/** Of somebody who manages roles below `lab`. */
let manager: { personId: number; token: string; role: string };
let count = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(db, accountId, 'lab');
  await createGroup(db, accountId, 'bench', 'lab');
  await createGroup(db, accountId, 'servers');
  app = await createTestApp(database.persistence);
  admin = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

beforeEach(async () => {
  const role = `lab manager ${++count}`;
  const body = {
    name: role,
    permissions: ['ViewComputer', 'ManageComputer'],
    global_permissions: ['ViewRole', 'ManageRole'],
    access_groups: ['lab'],
  };
  expect((await call(admin, 'POST', '/roles', body)).status).toBe(201);
  const person = await member(`manager${count}`, role);
  manager = { personId: person.personId, token: await app.login(person), role };
});

const call = (token: string, method: string, path: string, body?: object) =>
  app.call(method, path, { token, ...(body ? { body } : {}) });
const member = (name: string, role: string) =>
  createMember(database.persistence.db, { accountId, email: `${name}@fleet.example`, role });
const asManager = (method: string, path: string, body?: object) => call(manager.token, method, path, body);
const ownRole = () => `/roles/${encodeURIComponent(manager.role)}`;
const roles = async () => (await call(admin, 'GET', '/roles')).text;

describe('who manages roles of some access groups', () => {
  it.each([
    ['other access groups', { access_groups: ['lab', 'servers'] }],
    ['the whole account', { access_groups: ['global'] }],
    ['permissions they do not have', { permissions: ['ViewComputer', 'ManageComputer', 'ExecuteScript'] }],
    ['permissions on the account', { global_permissions: ['ViewRole', 'ManageRole', 'ManageAccount'] }],
  ])('cannot widen their own role to %s', async (_, body) => {
    const before = await roles();
    expect((await asManager('PATCH', ownRole(), body)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    const made = await asManager('POST', '/roles', { name: 'wide', access_groups: ['lab'], ...body });
    expect(made.body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect(await roles()).toBe(before);
  });

  it('cannot make a role on the whole account, nor change or remove one', async () => {
    const before = await roles();
    expect((await asManager('POST', '/roles', { name: 'everywhere' })).status).toBe(403);
    expect((await asManager('PATCH', '/roles/Auditor', { access_groups: ['lab'] })).status).toBe(403);
    expect((await asManager('DELETE', '/roles/Auditor')).status).toBe(403);
    expect(await roles()).toBe(before);
  });

  it('cannot give themselves or others a role beyond their own, nor take one away', async () => {
    const other = await member(`other${count}`, 'Auditor');
    for (const [id, wanted] of [
      [manager.personId, [manager.role, 'GlobalAdmin']],
      [other.personId, ['Auditor', 'ServerAdmin']],
      [other.personId, [manager.role]],
    ] as const) {
      expect((await asManager('PUT', `/administrators/${id}`, { roles: wanted })).body.error).toBe('Forbidden');
    }
    expect((await asManager('DELETE', `/administrators/${other.personId}`)).body.error).toBe('Forbidden');
  });

  it('cannot invite with such a role, and does not see the secrets of invitations', async () => {
    const guest = { name: 'Guest', email: 'guest@fleet.example' };
    expect((await asManager('POST', '/invitations', guest)).status).toBe(403);
    expect((await asManager('POST', '/invitations', { ...guest, roles: ['Auditor'] })).status).toBe(403);
    const { id, secure_id } = (await call(admin, 'POST', '/invitations', guest)).body;
    expect(secure_id).toMatch(/^\w{30}$/);
    expect((await asManager('GET', `/invitations/${id}`)).body.secure_id).toBe('');
    expect((await asManager('GET', '/invitations')).text).not.toContain(secure_id);
    expect((await call(admin, 'GET', `/invitations/${id}`)).body.secure_id).toBe(secure_id);
    const invited = await asManager('POST', '/invitations', { ...guest, roles: [manager.role] });
    expect(invited.status).toBeLessThan(300);
  });

  it('can manage what lies within', async () => {
    const body = { name: `bench ${count}`, permissions: ['ViewComputer'], access_groups: ['bench'] };
    expect((await asManager('POST', '/roles', body)).status).toBe(201);
    const role = `/roles/${encodeURIComponent(body.name)}`;
    expect((await asManager('PATCH', role, { permissions: ['ManageComputer'] })).status).toBe(200);
    const other = await member(`worker${count}`, 'Auditor');
    const give = { roles: ['Auditor', body.name] };
    expect((await asManager('PUT', `/administrators/${other.personId}`, give)).status).toBe(200);
    expect((await asManager('PUT', `/administrators/${other.personId}`, { roles: ['Auditor'] })).status).toBe(200);
    expect((await asManager('DELETE', role)).status).toBe(204);
  });

  it('may do all where another of their roles manages roles of the whole account', async () => {
    const everywhere = { name: `everywhere ${count}`, global_permissions: ['ManageRole'] };
    expect((await call(admin, 'POST', '/roles', everywhere)).status).toBe(201);
    const both = { roles: [manager.role, everywhere.name] };
    expect((await call(admin, 'PUT', `/administrators/${manager.personId}`, both)).status).toBe(200);
    expect((await asManager('PATCH', ownRole(), { access_groups: ['global'] })).status).toBe(200);
  });
});
