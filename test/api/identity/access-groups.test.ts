import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockRights } from '../../../src/persistence/identity/rights.repository.ts';
import { createAccount, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
let nowMs = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
  admin = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const create = (title: unknown, parent?: unknown, token = admin) =>
  app.call('POST', '/access-groups', { token, body: { title, parent } });
const get = async (name: string) =>
  (await app.call('GET', `/access-groups/${encodeURIComponent(name)}`, { token: admin })).body;
const rename = (name: string, title: unknown) =>
  app.call('PATCH', `/access-groups/${name}`, { token: admin, body: { title } });
const remove = (name: string) => app.call('DELETE', `/access-groups/${name}`, { token: admin });
const move = (id: number, access_group: string, token = admin) =>
  app.call('PUT', `/computers/${id}`, { token, body: { access_group } });

describe('access groups', () => {
  it('form a tree below global, named by the slug of their first title', async () => {
    expect(await get('global')).toEqual({ name: 'global', title: 'Global access', parent: '', children: '' });
    const servers = await create('  London <b>Servers</b>! v1.2 ');
    expect(servers.status).toBe(201);
    expect(servers.body).toEqual({
      name: 'london-bserversb-v1-2',
      title: 'London bServersb v1.2',
      parent: 'global',
      children: '',
    });
    await create('Web', 'london-bserversb-v1-2');
    await create('Databases', 'london-bserversb-v1-2');
    expect(await get('london-bserversb-v1-2')).toMatchObject({ children: 'databases,web' });
    expect((await create('Büro Süd')).body.name).toBe('buro-sud');
    expect((await create('実験室')).body.name).toBe('実験室');
    expect(await get('実験室')).toMatchObject({ title: '実験室', parent: 'global' });
    const { body } = await app.call('GET', '/access-groups?limit=2', { token: admin });
    expect(body).toMatchObject({ count: 6, previous: null, next: expect.stringContaining('offset=2') });
    expect(body.results.map((g: { name: string }) => g.name)).toEqual(['global', 'london-bserversb-v1-2']);
  });

  it('keep titles apart; slugs that meet get a number', async () => {
    expect((await create('Lab one')).body.name).toBe('lab-one');
    expect((await create('Lab one')).body).toMatchObject({ error: 'DuplicateAccessGroup', code: 409 });
    expect((await create('Lab  one!')).body.error).toBe('DuplicateAccessGroup');
    expect((await create('Lab-one')).body.name).toBe('lab-one-2');
    expect((await create('Lab.one')).body.name).toBe('lab-one-3');
    expect((await create('Global')).body.name).toBe('global-2');
    expect((await create('𠮷'.repeat(256))).status).toBe(400);
    expect((await create('𠮷'.repeat(255))).body.title).toBe('𠮷'.repeat(255));
    const many = await Promise.all(['Twin', 'Twin', 'Twin', 'Twin'].map((title) => create(title)));
    expect(many.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('are rejected without a usable title or parent', async () => {
    const before = (await app.call('GET', '/access-groups', { token: admin })).text;
    for (const title of ['', '   ', '<>!?', 'x'.repeat(256), 7, null, undefined, ['x'], { a: 1 }]) {
      expect((await create(title)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
      expect((await rename('lab-one', title)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    expect((await create('New', 'nowhere')).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await rename('nowhere', 'New')).body).toMatchObject({ error: 'UnknownAccessGroup', code: 404 });
    expect((await remove('nowhere')).body).toMatchObject({ error: 'UnknownAccessGroup', code: 404 });
    expect((await app.call('GET', '/access-groups', { token: admin })).text).toBe(before);
  });

  it('change their title and keep their name, the root too', async () => {
    expect((await rename('lab-one', 'Laboratory')).body).toMatchObject({ name: 'lab-one', title: 'Laboratory' });
    expect((await rename('lab-one', 'Laboratory')).status).toBe(200);
    expect((await rename('lab-one', 'Lab-one')).body).toMatchObject({ error: 'DuplicateAccessGroup', code: 409 });
    expect((await rename('global', 'Everything')).body).toMatchObject({ name: 'global', parent: '' });
    expect(await get('lab-one')).toMatchObject({ title: 'Laboratory' });
  });

  it('leave their groups and computers to their parent', async () => {
    const { db } = database.persistence;
    await create('Top');
    await create('Middle', 'top');
    await create('Leaf', 'middle');
    const computer = await insertComputer(db, { accountId, title: 'moved', group: 'middle' });
    const pending = await insertComputer(db, { accountId, title: 'pending', group: 'middle', state: 'pending' });
    const scoped = { accountId, email: 'middle@fleet.example', role: 'ServerAdmin', groups: ['middle'] };
    const token = await app.login(await createMember(db, scoped));
    expect((await app.call('GET', '/computers', { token })).body.count).toBe(1);
    const response = await remove('middle');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ name: 'top', title: 'Top', parent: 'global', children: 'leaf' });
    expect(await get('leaf')).toMatchObject({ parent: 'top' });
    const rows = await db.query<{ name: string }>(
      'select g.name from computer c join access_group g on g.id = c.access_group_id where c.id = any($1)',
      [[computer, pending]],
    );
    expect(rows.map(({ name }) => name)).toEqual(['top', 'top']);
    nowMs += 2000;
    expect((await app.call('GET', `/computers/${computer}`, { token })).status).not.toBe(200);
    expect((await remove('middle')).status).toBe(404);
    expect((await remove('global')).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
  });

  it('go away while one of their computers is removed', async () => {
    const { db } = database.persistence;
    const { name } = (await create('Leaving')).body;
    const id = await insertComputer(db, { accountId, title: 'leaving', group: name });
    const root = await db.query<{ id: number }>(
      `select id from access_group where account_id = $1 and name = 'global'`,
      [accountId],
    );
    const rootId = root[0]!.id;
    const body = { action: 'install', computer_ids: [id], snaps: [{ name: 'hello' }] };
    expect((await app.call('POST', '/snaps', { token: admin, body })).status).toBe(200);
    const { removal } = await db.transaction(async (tx) => {
      // What removing the group does, up to the moment before it ends.
      await lockRights(tx, accountId);
      await tx.query('update computer set access_group_id = $2 where id = $1', [id, rootId]);
      await tx.query('delete from access_group where account_id = $1 and name = $2', [accountId, name]);
      const started = app.call('POST', '/computers:delete', { token: admin, body: { computer_ids: [id] } });
      await untilBlocked(db);
      return { removal: started };
    });
    expect((await removal).status).toBe(204);
  });

  it('JWT-otheraccount: belong to their account alone', async () => {
    const other = await app.login(await createAccount(database.persistence.db, 'neighbour'));
    expect((await app.call('GET', '/access-groups', { token: other })).body.count).toBe(1);
    const foreign = await app.call('GET', '/access-groups/top', { token: other });
    const never = await app.call('GET', '/access-groups/never-was', { token: other });
    expect(foreign.text).toBe(never.text);
    expect((await create('Child', 'top', other)).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await create('Top', undefined, other)).status).toBe(201);
  });
});

describe('PUT /computers/<id>', () => {
  let computer: number;
  beforeAll(async () => {
    await create('Desk');
    await create('Store');
    computer = await insertComputer(database.persistence.db, { accountId, title: 'pc', group: 'desk' });
  });

  it('moves a computer and changes what is shown of it', async () => {
    expect((await move(computer, 'store')).body).toMatchObject({ id: computer, access_group: 'store', title: 'pc' });
    const change = { title: ' Desk 4 ', comment: 'by the\nwindow', tags: ['lab', 'web', 'lab'], access_group: 'desk' };
    const { body } = await app.call('PUT', `/computers/${computer}`, { token: admin, body: change });
    expect(body).toMatchObject({
      title: 'Desk 4',
      comment: 'by the\nwindow',
      tags: ['lab', 'web'],
      access_group: 'desk',
    });
    const kept = await app.call('PUT', `/computers/${computer}`, { token: admin, body: { title: null, tags: null } });
    expect(kept.body).toMatchObject({ title: 'Desk 4', tags: ['lab', 'web'] });
  });

  it('rejects what cannot be', async () => {
    const put = (body: object, id = computer) => app.call('PUT', `/computers/${id}`, { token: admin, body });
    expect((await put({ access_group: 'nowhere' })).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    for (const body of [
      { title: '' },
      { title: 'a\nb' },
      { tags: ['a b'] },
      { tags: [''] },
      { tags: 'lab' },
      { comment: 7 },
    ]) {
      expect((await put(body)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    expect((await put({ title: 'x' }, 2_000_000_000)).body).toMatchObject({ error: 'UnknownComputer', code: 404 });
    const archived = await insertComputer(database.persistence.db, { accountId, archived: true });
    expect((await put({ title: 'x' }, archived)).body).toMatchObject({ error: 'ComputerArchived', code: 400 });
  });

  it('ROLE-matrix: needs the right to manage where the computer is and where it goes', async () => {
    const { db } = database.persistence;
    const at = (email: string, groups: string[]) =>
      createMember(db, { accountId, email: `${email}@fleet.example`, role: 'DesktopAdmin', groups }).then(app.login);
    const desk = await at('desk', ['desk']);
    const store = await at('store', ['store']);
    const both = await at('both', ['desk', 'store']);
    expect((await move(computer, 'store', desk)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await move(computer, 'store', store)).body).toMatchObject({ error: 'UnknownComputer', code: 404 });
    const auditor = await app.login(await createMember(db, { accountId, email: 'aud@fleet.example', role: 'Auditor' }));
    expect((await move(computer, 'store', auditor)).body.error).toBe('Forbidden');
    expect((await app.call('GET', `/computers/${computer}`, { token: admin })).body.access_group).toBe('desk');
    expect((await move(computer, 'store', both)).body.access_group).toBe('store');
    expect((await app.call('GET', '/computers', { token: desk })).body.count).toBe(0);
    expect((await app.call('GET', '/computers', { token: store })).body.count).toBe(1);
  });
});
