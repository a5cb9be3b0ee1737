import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createRightsWorld, MARK, type RightsWorld } from '../../support/identity/rights-world.ts';
import {
  bodyFields,
  type DocumentedOperation,
  OPERATIONS,
  sampleBody,
  samplePath,
} from '../../support/http/sample-requests.ts';

let world: RightsWorld;
let token: string;

beforeAll(async () => {
  // Unknown fields are rejected otherwise: nothing would go all the way.
  world = await createRightsWorld({ unknownKeys: 'ignore' });
  token = await world.app.login(ADMIN);
});

afterAll(async () => {
  await world?.close();
});

const INTRUDER = 999_999;
/** Columns and keys that no body may set; the test is about those that an operation does not declare. */
const extras = () => ({
  id: INTRUDER,
  account_id: world.otherAccountId,
  accountId: world.otherAccountId,
  person_id: INTRUDER,
  creator: { id: INTRUDER },
  creator_id: INTRUDER,
  roles: ['GlobalAdmin'],
  role_ids: [1],
  permissions: ['ManageComputer'],
  global_permissions: ['ManageRole'],
  read_only: true,
  archived: true,
  state: 'pending',
  status: 'succeeded',
  activity_status: 'succeeded',
  parent_id: INTRUDER,
  access_group_id: INTRUDER,
  operator: true,
  token_epoch: INTRUDER,
  password_hash: `intruder-${INTRUDER}`,
  secure_id: `intruder${INTRUDER}`,
  allowable_emails: [`intruder@${INTRUDER}.example`],
  identity: `intruder-${INTRUDER}`,
});

const withBody = OPERATIONS.filter(({ body }) => body !== null).map((o) => [o.title, o] as const);

/** A right request of the administrator, so that it goes all the way. */
async function send(operation: DocumentedOperation, edit: (body: Record<string, unknown>) => string) {
  const inPath = operation.pathParameters.includes('invitation_id');
  const samples = {
    ...world.objects,
    ...(inPath ? {} : { invitation_id: world.objects['secure_id'] }),
    name: 'Sample name',
    title: `Sample ${operation.id}`,
    email: ADMIN.email,
    password: ADMIN.password,
    new_password: ADMIN.password,
    account: 'standalone',
    account_name: 'standalone',
    snaps: [{ name: 'hello' }],
    ...(operation.id === 'deleteComputers' ? { computer_ids: [await insertComputer(world.db, world)] } : {}),
  };
  const body = sampleBody(operation, samples) as Record<string, unknown>;
  const path = samplePath(operation, samples);
  const response = await world.app.call(operation.method, path, { token, raw: edit(body) });
  if (response.status < 300) token = await world.app.login(ADMIN);
  return response;
}

/** What only the system may decide, whatever a body has. */
async function protectedFacts(): Promise<unknown> {
  const [facts] = await world.db.query(
    `select (select count(*)::int from person where operator) as operators,
       (select count(*)::int from role where read_only) as read_only,
       (select count(*)::int from computer where archived or state = 'pending') as put_away,
       (select count(*)::int from activity where parent_id = $1 or creator_id = $1
         -- What was requested for no computer has succeeded at once.
         or status = 'succeeded' and (computer_id is not null or children_count > 0)) as ended,
       (select count(*)::int from membership_role mr join role r on r.id = mr.role_id where r.name = 'GlobalAdmin') as admins`,
    [INTRUDER],
  );
  return facts;
}

describe('bodies', () => {
  it.each(withBody)('MASS-assign: %s takes nothing that is not its own', async (_, operation) => {
    const before = { facts: await protectedFacts(), foreign: await world.fingerprint(world.otherAccountId) };
    const fields = bodyFields(operation);
    const foreign = Object.fromEntries(Object.entries(extras()).filter(([name]) => !fields.includes(name)));
    const response = await send(operation, (body) => JSON.stringify({ ...foreign, ...body }));
    expect(response.status, response.text).toBeLessThan(500);
    expect({ facts: await protectedFacts(), foreign: await world.fingerprint(world.otherAccountId) }).toEqual(before);
    expect(await storedText()).not.toContain(String(INTRUDER));
  });

  it.each(withBody)('PROTO: %s takes prototype keys for plain data', async (_, operation) => {
    const keys = '"__proto__":{"polluted":true,"isAdmin":true},"constructor":{"prototype":{"polluted":true}}';
    const response = await send(operation, (body) => {
      const text = JSON.stringify(body);
      return text === '{}' ? `{${keys}}` : `{${keys},${text.slice(1)}`;
    });
    expect(response.status, response.text).toBeLessThan(500);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('PROTO: names of roles and groups may be those of every object', async () => {
    const { app } = world;
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await app.call('PATCH', `/roles/${name}`, { token, body: {} })).body.error).toBe('UnknownRole');
      expect((await app.call('GET', `/access-groups/${name}`, { token })).body.error).toBe('UnknownAccessGroup');
      const made = await app.call('POST', '/roles', { token, body: { name, access_groups: [name] } });
      expect(made.body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
      expect((await app.call('POST', '/roles', { token, body: { name } })).body.name).toBe(name);
      expect((await app.call('DELETE', `/roles/${name}`, { token })).status).toBe(204);
      const person = await app.call('PUT', `/administrators/${world.objects['person_id']}`, {
        token,
        body: { roles: [name] },
      });
      expect(person.body).toMatchObject({ error: 'UnknownRole', code: 400 });
    }
    const group = await app.call('POST', '/access-groups', { token, body: { title: 'constructor' } });
    expect(group.body).toMatchObject({ name: 'constructor', title: 'constructor' });
  });
});

/** Every row of the tables that bodies write into, as text. */
async function storedText(): Promise<string> {
  const tables = [
    'person',
    'role',
    'access_group',
    'membership',
    'membership_role',
    'invitation',
    'computer',
    'activity',
    'account',
    'event',
  ];
  const parts = tables.map((name) => `select t::text as row from ${name} t`);
  const rows = await world.db.query<{ row: string }>(parts.join(' union all '));
  const text = rows.map(({ row }) => row).join('\n');
  expect(text).toContain(MARK);
  return text;
}
