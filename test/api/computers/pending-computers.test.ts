import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
let servers: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'desktops');
  app = await createTestApp(database.persistence);
  admin = await app.login();
  servers = await app.login(
    await createMember(db, { accountId, email: 'servers@fleet.example', role: 'ServerAdmin', groups: ['servers'] }),
  );
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const pending = (title: string, group = 'global') =>
  insertComputer(database.persistence.db, { accountId, title, group, state: 'pending', tags: ['lab'] });
const list = async (token = admin, query = '') => (await app.call('GET', `/pending-computers${query}`, { token })).body;
const decide = (verb: 'accept' | 'reject', body: object, token = admin) =>
  app.call('POST', `/pending-computers:${verb}`, { token, body });
const rowOf = async (id: number) => {
  const [row] = await database.persistence.db.query(
    `select c.state, c.registered_at, g.name as access_group from computer c join access_group g on g.id = c.access_group_id
     where c.id = $1`,
    [id],
  );
  return row;
};

describe('GET /pending-computers', () => {
  it('lists what waits, page by page, in groups where the caller decides', async () => {
    const [web, desk] = [await pending('web', 'servers'), await pending('desk', 'desktops')];
    await database.persistence.db.query(
      `insert into computer_inventory (computer_id, client_tags) values ($1, '{a,b}')`,
      [web],
    );
    const all = await list();
    expect(all).toMatchObject({ count: 2, next: null, previous: null });
    expect(all.results[0]).toEqual({
      id: web,
      title: 'web',
      hostname: 'web.fleet.example',
      creation_time: expect.stringMatching(/^\d{4}-.*Z$/),
      client_tags: ['a', 'b'],
      vm_info: null,
      container_info: null,
      access_group: 'servers',
    });
    expect(all.results[1].id).toBe(desk);
    expect((await list(servers)).results.map((computer: { id: number }) => computer.id)).toEqual([web]);
    const page = await list(admin, '?limit=1&offset=1');
    expect(page).toMatchObject({ count: 2, results: [{ id: desk }], next: null });
    expect(page.previous).toContain('offset=0');
    expect((await decide('reject', { computer_ids: [web, desk] })).body).toEqual([web, desk]);
  });
});

describe('POST /pending-computers:accept', () => {
  it('accepts computers into the group they requested, once, and writes an event for each', async () => {
    const ids = [await pending('in-1', 'servers'), await pending('in-2')];
    const response = await decide('accept', { computer_ids: [ids[1], ids[0], ids[1]] });
    expect([response.status, response.body]).toEqual([200, ids]);
    expect(await rowOf(ids[0]!)).toMatchObject({
      state: 'approved',
      access_group: 'servers',
      registered_at: expect.any(Date),
    });
    expect((await app.call('GET', `/computers/${ids[1]}`, { token: admin })).body.registered_at).toMatch(/Z$/);
    expect((await decide('accept', { computer_ids: ids })).body).toMatchObject({ error: 'UnknownComputer', code: 404 });
    const { results } = (await app.call('GET', '/events?search=in-', { token: admin })).body;
    expect(results.map((event: { message: string }) => event.message).sort()).toEqual([
      'Accepted the pending computer in-1',
      'Accepted the pending computer in-2',
    ]);
  });

  it('changes no family of a Windows host before it was decided', async () => {
    const { db } = database.persistence;
    const member = (title: string, over: object) =>
      insertComputer(db, { accountId, title, hostagentUid: 'uid-1', ...over });
    const host = await member('host', {});
    const child = await member('child', { isWsl: true, isDefaultChild: true, parentId: host });
    const [newHost, newChild] = [
      await member('new-host', { state: 'pending' }),
      await member('new-child', { state: 'pending', isWsl: true }),
    ];
    const parents = async () =>
      db.query('select id, parent_id, is_default_child from computer where id = any($1) order by id', [
        [child, newChild],
      ]);
    await decide('accept', { computer_ids: [newChild] });
    expect(await parents()).toEqual([
      { id: child, parent_id: host, is_default_child: true },
      { id: newChild, parent_id: host, is_default_child: false },
    ]);
    await decide('accept', { computer_ids: [newHost] });
    expect((await parents()).map((row) => row['parent_id'])).toEqual([newHost, newHost]);
  });

  it('puts them into an access group where the caller decides too', async () => {
    const id = await pending('moved', 'servers');
    const body = { computer_ids: [id], access_group: 'desktops' };
    expect((await decide('accept', body, servers)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await decide('accept', { ...body, access_group: 'nowhere' })).body).toMatchObject({
      error: 'UnknownAccessGroup',
      code: 400,
    });
    expect(await rowOf(id)).toMatchObject({
      state: 'pending',
      access_group: 'servers',
      registered_at: expect.any(Date),
    });
    expect((await decide('accept', body)).status).toBe(200);
    expect(await rowOf(id)).toMatchObject({ state: 'approved', access_group: 'desktops' });
  });

  it('lets one of two that accept the same computer at once win', async () => {
    const id = await pending('contended');
    const responses = await Promise.all([1, 2, 3].map(() => decide('accept', { computer_ids: [id] })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  });

  it('BATCH-mixed: one computer that may not be decided about changes nothing', async () => {
    const other = await createAccount(database.persistence.db, 'other');
    const foreign = await insertComputer(database.persistence.db, { accountId: other.accountId, state: 'pending' });
    const [mine, desk, member] = [
      await pending('mine', 'servers'),
      await pending('theirs', 'desktops'),
      await insertComputer(database.persistence.db, { accountId, title: 'member', group: 'servers' }),
    ];
    for (const verb of ['accept', 'reject'] as const) {
      for (const bad of [foreign, desk, member, 2_000_000_000]) {
        const response = await decide(verb, { computer_ids: [mine, bad] }, servers);
        expect(response.body).toMatchObject({ error: 'UnknownComputer', code: 404, details: [{ id: bad }] });
      }
    }
    expect(await rowOf(mine)).toMatchObject({ state: 'pending' });
    expect(await rowOf(desk)).toMatchObject({ state: 'pending' });
    expect(await rowOf(member)).toMatchObject({ state: 'approved' });
  });

  it('ID-bad: what cannot be an id is rejected', async () => {
    for (const computer_ids of [[0], [-1], ['x'], [1.5], [2_147_483_648], [null], [], 7, null, 'all']) {
      for (const verb of ['accept', 'reject'] as const) {
        const response = await decide(verb, { computer_ids });
        expect(response.body, JSON.stringify(computer_ids)).toMatchObject({ error: 'InvalidParameter', code: 400 });
      }
    }
  });
});
