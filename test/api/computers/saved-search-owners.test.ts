import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { script } from '../../support/scripts/scripts.ts';

let database: TestDatabase;
let app: TestApp;
let admin: string;
let accountId: number;
let scriptId: number;
const computers: Record<string, number> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  for (const title of ['web', 'db']) {
    computers[title] = await insertComputer(database.persistence.db, { accountId, title, tags: [title] });
  }
  app = await createTestApp(database.persistence);
  admin = await app.login();
  scriptId = (await app.call('POST', '/scripts', { token: admin, body: script() })).body.id;
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const call = (method: string, path: string, body?: unknown, token = admin) => app.call(method, path, { token, body });
const save = (name: string, search: string, token = admin) => call('POST', '/saved-searches', { name, search }, token);
const read = async () => (await call('GET', '/saved-searches')).text;

async function login(name: string, role: string): Promise<string> {
  const email = `${name}@fleet.example`;
  return app.login(await createMember(database.persistence.db, { accountId, email, role }));
}

describe('a saved search', () => {
  it('is changed and removed by whoever made it', async () => {
    const owner = await login('owner', 'Auditor');
    expect((await save('own', 'web', owner)).status).toBe(201);
    const changed = await call('PATCH', '/saved-searches/own', { search: 'db', title: 'Own' }, owner);
    expect(changed.body).toEqual({ name: 'own', title: 'Own', search: 'db', changeable: true });
    expect((await call('DELETE', '/saved-searches/own', undefined, owner)).status).toBe(204);
  });

  it('is left as it is by others without ManageAccount', async () => {
    const owner = await login('maker', 'Auditor');
    await save('kept', 'web', owner);
    const before = await read();
    for (const role of ['Auditor', 'SupportAnalyst', 'ServerAdmin', 'DesktopAdmin']) {
      const other = await login(`other-${role.toLowerCase()}`, role);
      for (const [method, body] of [
        ['PATCH', { search: '' }],
        ['PATCH', { title: 'Taken' }],
        ['PATCH', { search: 'db' }],
      ] as const) {
        expect((await call(method, '/saved-searches/kept', body, other)).body.code).toBeGreaterThanOrEqual(400);
      }
      const rejected = { error: 'Forbidden', code: 403 };
      expect((await call('PATCH', '/saved-searches/kept', { search: 'db' }, other)).body).toMatchObject(rejected);
      expect((await call('PATCH', '/saved-searches/kept', {}, other)).body).toMatchObject(rejected);
      expect((await call('DELETE', '/saved-searches/kept', undefined, other)).body).toMatchObject(rejected);
      // All of them may use it.
      expect((await call('GET', '/saved-searches', undefined, other)).body.results).toContainEqual(
        expect.objectContaining({ name: 'kept', changeable: false }),
      );
      expect((await call('GET', '/computers?query=search:kept', undefined, other)).body.count).toBe(1);
    }
    expect(await read()).toBe(before);
    expect((await call('PATCH', '/saved-searches/kept', { search: 'db' })).status).toBe(200);
    expect((await call('DELETE', '/saved-searches/kept')).status).toBe(204);
  });

  it('without a known maker takes ManageAccount', async () => {
    await database.persistence.db.query(
      `insert into saved_search (account_id, name, title, search) values ($1, 'old', 'Old', 'web')`,
      [accountId],
    );
    const other = await login('late', 'SupportAnalyst');
    expect((await call('PATCH', '/saved-searches/old', { search: 'db' }, other)).body.error).toBe('Forbidden');
    expect((await call('DELETE', '/saved-searches/old', undefined, other)).body.error).toBe('Forbidden');
    expect((await call('PATCH', '/saved-searches/old', { search: 'db' })).status).toBe(200);
  });
});

describe('an action on what a saved search means', () => {
  /** Every call that acts on a query: its path, and the rest of its body. */
  const ACTIONS: ReadonlyArray<readonly [string, object, string]> = [
    ['/computers:add-tags', { tags: ['seen'] }, 'search:target'],
    ['/computers:remove-tags', { tags: ['seen'] }, 'search:target'],
    ['/computers:annotate', { key: 'seen', value: 'yes' }, 'search:target'],
    ['/computers:remove-annotation', { key: 'seen' }, 'search:target'],
    ['/computers:change-access-group', { access_group: 'global' }, 'search:target'],
    ['/scripts/<id>:execute', {}, 'search:target'],
    ['/activities/cancel', {}, 'computer:"search:target"'],
    ['/activities/approve', {}, 'computer:"search:target"'],
  ];
  const act = ([path, rest, query]: (typeof ACTIONS)[number], searches: unknown) =>
    call('POST', path.replace('<id>', String(scriptId)), { query, ...rest, searches });
  const stored = async () =>
    (
      await database.persistence.db.query(
        `select (select count(*) from activity) as activities, (select count(*) from event) as events,
           (select json_agg(c order by c.id) from computer c) as computers`,
      )
    )[0];

  beforeAll(async () => {
    await save('target', 'tag:web');
  });

  it.each(ACTIONS)('POST %s is done while the search reads as it was seen', async (...action) => {
    expect((await act(action, { target: ' tag:web ' })).status).not.toBe(409);
    expect((await act(action, { target: 'tag:web' })).body.error).not.toBe('SavedSearchChanged');
    expect((await act(action, null)).body.error).not.toBe('InvalidParameter');
  });

  it.each(ACTIONS)('POST %s is rejected, with both texts, once it was changed', async (...action) => {
    const before = await stored();
    const { body } = await act(action, { target: 'tag:db' });
    expect(body).toMatchObject({ error: 'SavedSearchChanged', code: 409, details: [{ path: 'body.searches' }] });
    expect(body.message).toBe('The saved search target is "tag:web" now, not "tag:db"');
    expect(await stored()).toEqual(before);
  });

  it.each(ACTIONS)('POST %s is rejected when the query does not name what was seen', async (...action) => {
    const before = await stored();
    const { body } = await act(action, { target: 'tag:web', tarjet: 'tag:web' });
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400, details: [{ path: 'body.searches' }] });
    for (const searches of [{ target: 1 }, ['tag:web'], 'tag:web']) {
      expect((await act(action, searches)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    expect(await stored()).toEqual(before);
  });

  it.each(['cancel', 'approve'])('POST /activities/%s takes no seen searches with ids', async (verb) => {
    const { body } = await call('POST', `/activities/${verb}`, { activity_ids: [1], searches: { target: 'tag:web' } });
    expect(body).toMatchObject({ error: 'InvalidParameterCombination', code: 400 });
  });

  it('is done on what the seen text means', async () => {
    const { body } = await act(ACTIONS[0]!, { target: 'tag:web' });
    expect(body).toEqual([computers['web']]);
  });
});
