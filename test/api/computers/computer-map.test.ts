import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { aRule, insertAuditedRun, usgProfile } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

let database: TestDatabase;
let app: TestApp;
let db: Database;
let accountId: number;
let admin: string;
const ids: Record<string, number> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = database.persistence);
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'databases', 'servers');
  app = await createTestApp(database.persistence);
  admin = await app.login();
  const add = async (title: string, seed: object = {}) => {
    ids[title] = await insertComputer(db, { accountId, title, ...seed });
    await db.query('insert into computer_contact (computer_id, last_ping_time) values ($1, now())', [ids[title]]);
  };
  await add('one', { group: 'servers', tags: ['web', 'lab'] });
  await add('two', { group: 'databases', tags: ['web'] });
  await add('three');
  await add('four', { tags: ['<img src=x onerror=alert(1)>'] });
  await insertComputer(db, { accountId, archived: true });
  await insertComputer(db, { accountId, state: 'pending' });
  await insertComputer(db, { accountId, parentId: ids['three']!, isWsl: true });
  const other = await createAccount(db, 'other');
  await insertComputer(db, { accountId: other.accountId, title: 'one', tags: ['web'] });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const read = (parameters: Record<string, string>, token = admin) =>
  app.call('GET', `/computers/map?${new URLSearchParams(parameters)}`, { token });

/** The name of the value of each computer; groups have no effect on it. */
async function colors(color: string, parameters: Record<string, string> = {}): Promise<Record<string, string>> {
  const { status, body, text } = await read({ color, ...parameters });
  expect(status, text).toBe(200);
  const titles = Object.fromEntries(Object.entries(ids).map(([title, id]) => [id, title]));
  return Object.fromEntries(
    body.ids.map((id: number, index: number) => [titles[id], body.legend[Number(body.values[index])].name]),
  );
}

/** The titles of the computers of each group. */
async function groups(group: string, parameters: Record<string, string> = {}, token = admin) {
  const { body } = await read({ group, ...parameters }, token);
  let start = 0;
  const titleOf = (id: number) => Object.keys(ids).find((title) => ids[title] === id);
  return body.groups.map(({ name, cells }: { name: string | null; cells: number }) => {
    start += cells;
    return [name, ...body.ids.slice(start - cells, start).map(titleOf)];
  });
}

describe('the map of computers', () => {
  it('has a digit for each approved, active computer that is no WSL instance', async () => {
    const { body } = await read({});
    expect(body).toMatchObject({
      count: 4,
      groups: [{ name: null, title: null, cells: 4 }],
      values: '0000',
      ids: ['one', 'two', 'three', 'four'].map((title) => ids[title]),
    });
    expect(body.legend[0]).toEqual({ name: 'fine', label: 'Fine' });
    expect((await read({ root_only: 'false' })).body.count).toBe(5);
    expect((await read({ query: 'tag:none' })).body).toMatchObject({ count: 0, groups: [], values: '', ids: [] });
  });

  it('is grouped by access group, or by every tag of a computer', async () => {
    expect(await groups('access_group')).toEqual([
      ['databases', 'two'],
      ['global', 'three', 'four'],
      ['servers', 'one'],
    ]);
    expect(await groups('tag')).toEqual([
      ['<img src=x onerror=alert(1)>', 'four'],
      ['lab', 'one'],
      ['web', 'one', 'two'],
      [null, 'three'],
    ]);
    expect((await read({ group: 'tag' })).body.count).toBe(4);
  });

  it('shows the same computers as the list does for a query', async () => {
    for (const query of ['tag:web', 'NOT tag:web', 'o', `id:${ids['one']} OR id:${ids['four']}`, '']) {
      const list = await app.call('GET', `/computers?${new URLSearchParams({ query })}`, { token: admin });
      const { body } = await read({ query });
      expect(body.ids).toEqual(list.body.results.map(({ id }: { id: number }) => id));
      expect(body.count).toBe(list.body.count);
    }
    expect((await read({ query: 'profile:security:1' })).headers.get('deprecation')).toMatch(/^@\d{10}$/);
  });

  it('shows the state as the alerts have it', async () => {
    await db.query(
      `update computer_contact set last_ping_time = now() - interval '1 hour', known_since = now() - interval '1 day'
       where computer_id = $1`,
      [ids['one']],
    );
    const status = `insert into computer_status (computer_id, reboot_since, package_reporter_since, regular_upgrades_since)`;
    await db.query(`${status} values ($1, now(), now(), now())`, [ids['one']]);
    await db.query(`${status} values ($1, now(), null, now())`, [ids['two']]);
    await db.query(`${status} values ($1, null, null, now())`, [ids['three']]);
    await db.query(
      `insert into activity (account_id, computer_id, type, summary, status, needed_approval)
       values ($1, $2, 'RebootRequest', 'Restart', 'unapproved', true)`,
      [accountId, ids['four']],
    );
    expect(await colors('state')).toEqual({
      one: 'offline',
      two: 'needs-restart',
      three: 'fine',
      four: 'has-alerts',
    });
    await db.query('update computer_status set security_upgrades_since = now() where computer_id = $1', [ids['three']]);
    expect(await colors('state')).toMatchObject({ three: 'has-alerts', two: 'needs-restart' });
    expect(await colors('state', { query: 'alert:computer-offline' })).toEqual({ one: 'offline' });
  });

  it('shows the last contact', async () => {
    const ago = (title: string, interval: string | null) =>
      db.query('update computer_contact set last_ping_time = now() - $2::interval where computer_id = $1', [
        ids[title],
        interval,
      ]);
    await ago('one', '2 hours');
    await ago('two', '8 days');
    await ago('three', null);
    await ago('four', '4 minutes');
    expect(await colors('contact')).toEqual({ one: 'day', two: 'longer', three: 'never', four: 'minutes' });
  });

  it('shows the last results of audits of all active profiles of a computer', async () => {
    const create = async (over: object) => {
      const start_date = new Date(Date.now() + 86_400_000).toISOString();
      const body = usgProfile({ start_date, schedule: 'FREQ=WEEKLY', ...over });
      return (await app.call('POST', '/usg-profiles', { token: admin, body })).body.id as number;
    };
    const audit = (profileId: number, results: Record<string, string>) =>
      insertAuditedRun(db, {
        accountId,
        profileId,
        startedAt: new Date(),
        rules: [aRule('rule')],
        computers: new Map(Object.entries(results).map(([title, letters]) => [ids[title]!, letters])),
      });
    const all = await create({ title: 'Everywhere' });
    await audit(all, { one: 'f', two: 'f', three: 'p' });
    await audit(all, { one: 'p', two: 'f' });
    const web = await create({ title: 'Only web', all_computers: false, tags: ['lab'] });
    await audit(web, { one: 'f', three: 'f' });
    expect(await colors('compliance')).toEqual({ one: 'fail', two: 'fail', three: 'pass', four: 'no-result' });
    await app.call('POST', `/usg-profiles/${web}:archive`, { token: admin });
    expect(await colors('compliance')).toMatchObject({ one: 'pass' });
  });

  it('shows the status of an activity, the worst of several operations', async () => {
    const add = async (status: string, computer: number | null, parent: number | null) => {
      const rows = await db.query<{ id: number }>(
        `insert into activity (account_id, computer_id, parent_id, type, summary, status)
         values ($1, $2, $3, $4, 'Install', $5) returning id`,
        [accountId, computer, parent, computer === null ? 'ActivityGroup' : 'InstallSnaps', status],
      );
      return rows[0]!.id;
    };
    const group = await add('delivered', null, null);
    const single = await add('succeeded', ids['one']!, group);
    await add('failed', ids['one']!, group);
    await add('scheduled', ids['two']!, group);
    await add('delivered', ids['three']!, group);
    expect(await colors(`activity:${group}`)).toEqual({
      one: 'failed',
      two: 'waiting',
      three: 'delivered',
      four: 'none',
    });
    expect(await colors(`activity:${single}`)).toMatchObject({ one: 'succeeded', two: 'none' });
  });
});

describe('the map of computers with a role for some', () => {
  it('has only the computers of the access groups, and no activity of others', async () => {
    const member = { accountId, email: 'some@fleet.example', role: 'Auditor', groups: ['databases'] };
    const token = await app.login(await createMember(db, member));
    expect(await groups('access_group', {}, token)).toEqual([['databases', 'two']]);
    expect(await groups('tag', { query: 'tag:web' }, token)).toEqual([['web', 'two']]);
    const [row] = await db.query<{ id: number }>(
      `insert into activity (account_id, computer_id, type, summary, status)
       values ($1, $2, 'InstallSnaps', 'Install', 'failed') returning id`,
      [accountId, ids['one']],
    );
    expect((await read({ color: `activity:${row!.id}` }, token)).body).toMatchObject({ error: 'UnknownActivity' });
    expect((await read({ color: `activity:${row!.id}` })).status).toBe(200);
  });

  it('rejects what is wrong', async () => {
    const wrong: Array<[Record<string, string>, string]> = [
      [{ color: 'red' }, 'InvalidParameter'],
      [{ color: 'activity:' }, 'InvalidParameter'],
      [{ color: 'activity:0' }, 'InvalidParameter'],
      [{ color: "activity:1' or true --" }, 'InvalidParameter'],
      [{ color: 'constructor' }, 'InvalidParameter'],
      [{ color: 'activity:9999999999' }, 'UnknownActivity'],
      [{ group: 'title' }, 'InvalidParameter'],
      [{ limit: '10' }, 'InvalidParameter'],
      [{ query: 'tag:' }, 'InvalidQueryError'],
      [{ query: 'nothing:like-this' }, 'InvalidQueryError'],
    ];
    for (const [parameters, error] of wrong)
      expect((await read(parameters)).body, JSON.stringify(parameters)).toMatchObject({ error });
    expect((await app.call('GET', '/computers/map')).status).toBe(401);
  });
});
