import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS } from '../../../src/domain/identity/permissions.ts';
import { createAccount, createMember } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence);
  admin = await app.login();
  for (const [title, parent] of [
    ['Servers', 'global'],
    ['Web', 'servers'],
    ['Desktops', 'global'],
  ]) {
    await app.call('POST', '/access-groups', { token: admin, body: { title, parent } });
  }
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const permissions = async (token: string) => (await app.call('GET', '/me/permissions', { token })).body;
const addRole = (name: string, body: object) => app.call('POST', '/roles', { token: admin, body: { name, ...body } });

async function loginWith(roles: string[]): Promise<string> {
  const email = `${roles[0]!.replaceAll(' ', '-')}@fleet.example`;
  const member = await createMember(database.persistence.db, { accountId, email, role: 'Auditor' });
  await app.call('PUT', `/administrators/${member.personId}`, { token: admin, body: { roles } });
  return app.login(member);
}

describe('own permissions', () => {
  it('of an administrator of everything are all, in every access group', async () => {
    const access_groups = ['global', 'servers', 'web', 'desktops'];
    expect(await permissions(admin)).toEqual({
      global_permissions: GLOBAL_PERMISSIONS,
      permissions: GROUP_PERMISSIONS.map((name) => ({ name, access_groups })),
      operator: true,
    });
  });

  it('unite the roles, with the groups below those of a role', async () => {
    await addRole('server viewer', { permissions: ['ViewComputer'], access_groups: ['servers'] });
    await addRole('desktop manager', {
      permissions: ['ViewComputer', 'ManageComputer'],
      global_permissions: ['ViewEventLog'],
      access_groups: ['desktops'],
    });
    const token = await loginWith(['server viewer', 'desktop manager']);
    expect(await permissions(token)).toEqual({
      global_permissions: ['ViewEventLog'],
      permissions: [
        { name: 'ViewComputer', access_groups: ['servers', 'web', 'desktops'] },
        { name: 'ManageComputer', access_groups: ['desktops'] },
      ],
      operator: false,
    });
  });

  it('are none with a role without permissions, and name no group of another account', async () => {
    await addRole('nothing', {});
    expect(await permissions(await loginWith(['nothing']))).toEqual({
      global_permissions: [],
      permissions: [],
      operator: false,
    });
    const stranger = await createAccount(database.persistence.db, 'strangers');
    const seen = await permissions(await app.login(stranger));
    expect(seen.permissions[0]).toEqual({ name: 'ViewComputer', access_groups: ['global'] });
  });
});
