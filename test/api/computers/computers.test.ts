import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, PUBLIC_URL, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let admin: string;
const ids: Record<string, number> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'databases', 'servers');
  await createGroup(db, accountId, 'desktops');
  app = await createTestApp(database.persistence);
  admin = await app.login();
  const add = async (title: string, seed: object = {}) => {
    ids[title] = await insertComputer(db, { accountId, title, ...seed });
  };
  await add('web', { group: 'servers', tags: ['web', 'lab'] });
  await add('db', { group: 'databases' });
  await add('host', { group: 'desktops', hostagentUid: 'uid-1' });
  await add('wsl-a', { group: 'desktops', parentId: ids['host'], isWsl: true, isDefaultChild: true });
  await add('wsl-b', { group: 'servers', parentId: ids['host'], isWsl: true });
  await add('pending', { state: 'pending' });
  await add('archived', { archived: true });
  await db.query(`insert into computer_contact values ($1, '2026-05-04 09:12:40.987+00', '2026-05-04 11:00:00+02')`, [
    ids['web'],
  ]);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const list = (query = '', token = admin) => app.call('GET', `/computers${query}`, { token });
const titles = async (query: string, token = admin) =>
  (await list(query, token)).body.results.map((computer: { title: string }) => computer.title);

describe('GET /computers', () => {
  it('lists approved roots in id order with every field', async () => {
    const { body } = await list();
    expect(body).toMatchObject({ count: 3, next: null, previous: null });
    expect(body.results.map((c: { title: string }) => c.title)).toEqual(['web', 'db', 'host']);
    expect(body.results[0]).toEqual({
      id: ids['web'],
      title: 'web',
      comment: '',
      hostname: 'web.fleet.example',
      total_memory: null,
      total_swap: null,
      reboot_required_flag: false,
      update_manager_prompt: '',
      clone_id: null,
      last_exchange_time: '2026-05-04T09:00:00Z',
      last_ping_time: '2026-05-04T09:12:40Z',
      tags: ['lab', 'web'],
      access_group: 'servers',
      distribution: null,
      distribution_info: null,
      cloud_instance_metadata: {},
      cloud_init: {},
      vm_info: null,
      container_info: null,
      distro_pro_info: null,
      is_wsl_instance: false,
      archived: false,
      employee_id: null,
      registered_at: expect.stringMatching(/^\d{4}-.*Z$/),
      children: [],
      parent: null,
      default_child: null,
      is_default_child: null,
    });
  });

  it('shows WSL families from both ends', async () => {
    const { results } = (await list('?root_only=false')).body;
    const [, , host, child, other] = results;
    expect(host.children.map((c: { title: string }) => c.title)).toEqual(['wsl-a', 'wsl-b']);
    expect(host.children[0]).not.toHaveProperty('parent');
    expect(host.default_child).toEqual({ id: ids['wsl-a'], title: 'wsl-a', hostname: 'wsl-a.fleet.example' });
    expect(child.parent).toMatchObject({ id: ids['host'], title: 'host' });
    expect([child.is_default_child, other.is_default_child, host.is_default_child]).toEqual([true, false, null]);
  });

  it('restricts to archived computers, WSL hosts and WSL instances', async () => {
    expect(await titles('?archived_only=true')).toEqual(['archived']);
    expect(await titles('?wsl_parents=true')).toEqual(['host']);
    expect(await titles('?wsl_children=1&root_only=0')).toEqual(['wsl-a', 'wsl-b']);
    expect(await titles('?wsl_children=1&wsl_parents=1&root_only=no')).toEqual(['host', 'wsl-a', 'wsl-b']);
    expect((await list('?wsl_children=true')).body).toMatchObject({ error: 'InvalidParameterCombination', code: 400 });
  });

  it('walks the pages by absolute links that keep the other parameters', async () => {
    const first = (await list('?limit=2&root_only=false&query=NOT%20tag:gone')).body;
    expect(first.next).toBe(
      `${PUBLIC_URL}/api/v2/computers?limit=2&root_only=false&query=NOT+tag%3Agone&offset=2&after=2-${ids['db']}`,
    );
    expect(first).toMatchObject({ count: 5, previous: null });
    const second = (await app.call('GET', first.next.slice(PUBLIC_URL.length), { token: admin })).body;
    const third = (await app.call('GET', second.next.slice(PUBLIC_URL.length), { token: admin })).body;
    expect(third.next).toBeNull();
    expect(third.previous).toContain('offset=2');
    const walked = [first, second, third].flatMap((page) => page.results.map((c: { title: string }) => c.title));
    expect(walked).toEqual(['web', 'db', 'host', 'wsl-a', 'wsl-b']);
    expect((await list('?limit=2&offset=1')).body.previous).toContain('offset=0');
    expect((await list('?offset=99')).body).toMatchObject({ count: 3, results: [], next: null });
  });

  it('adds annotations and reboot packages on request', async () => {
    const { db } = database.persistence;
    await db.query(`update computer set annotations = '{"rack":"7"}', reboot_packages = '{linux,dbus}' where id = $1`, [
      ids['web'],
    ]);
    const [web] = (await list('?with_annotations=true&with_reboot_packages=true')).body.results;
    expect(web).toMatchObject({ annotations: { rack: '7' }, reboot_packages: ['dbus', 'linux'] });
    expect((await list()).body.results[0]).not.toHaveProperty('annotations');
  });
});

describe('GET /computers/<computer_id>', () => {
  it('shows one computer in detail, archived ones too', async () => {
    const { body } = await app.call('GET', `/computers/${ids['host']}`, { token: admin });
    expect(body).toMatchObject({
      id: ids['host'],
      num_child: 2,
      packages_reported: null,
      hotpatch_info: null,
      distro_pro_reboot_required_info: null,
    });
    expect((await app.call('GET', `/computers/${ids['archived']}`, { token: admin })).body.archived).toBe(true);
  });

  it('shows how far a growing package list is', async () => {
    await database.persistence.db.query(
      `insert into computer_inventory (computer_id, packages_requested) values ($1, 41)
       on conflict (computer_id) do update set packages_requested = 41`,
      [ids['web']],
    );
    const { body } = await app.call('GET', `/computers/${ids['web']}`, { token: admin });
    expect(body.packages_reported).toBe(41);
  });

  it('returns 404 for pending and unknown computers', async () => {
    for (const id of [ids['pending'], 2_000_000_000]) {
      expect((await app.call('GET', `/computers/${id}`, { token: admin })).body.error).toBe('UnknownComputer');
    }
  });
});

describe('archived computers', () => {
  it('are out of their families, and see theirs', async () => {
    const { db } = database.persistence;
    const family = { accountId, hostagentUid: 'uid-2' };
    const host = await insertComputer(db, { ...family, title: 'old-host' });
    const removed = await insertComputer(db, {
      ...family,
      title: 'gone',
      parentId: host,
      isWsl: true,
      isDefaultChild: true,
      archived: true,
    });
    const kept = await insertComputer(db, { ...family, title: 'kept', parentId: host, isWsl: true });
    const read = async (id: number) => (await app.call('GET', `/computers/${id}`, { token: admin })).body;
    expect(await read(host)).toMatchObject({ num_child: 1, default_child: null, children: [{ id: kept }] });
    expect(await read(removed)).toMatchObject({ archived: true, parent: { id: host }, is_default_child: true });
    await db.query('update computer set archived = true where id = $1', [host]);
    expect(await read(kept)).toMatchObject({ parent: null, is_default_child: false });
    expect(await read(host)).toMatchObject({ children: [{ id: kept }] });
    expect(await titles('?archived_only=true&root_only=false')).toEqual(['archived', 'old-host', 'gone']);
    await db.query('delete from computer where id = any($1::int[])', [[kept, removed, host]]);
  });
});

describe('scope', () => {
  it('JWT-otheraccount: never shows computers of another account', async () => {
    const other = await createAccount(database.persistence.db, 'other');
    const token = await app.login(other);
    expect((await list('?root_only=false', token)).body).toMatchObject({ count: 0, results: [] });
    const foreign = await app.call('GET', `/computers/${ids['web']}`, { token });
    const never = await app.call('GET', '/computers/2000000000', { token });
    expect({ status: foreign.status, text: foreign.text }).toEqual({ status: never.status, text: never.text });
  });

  it('shows only access groups where the role allows it, descendants included, in families too', async () => {
    const { db } = database.persistence;
    const limited = { accountId, email: 'limited@fleet.example', role: 'ServerAdmin', groups: ['servers'] };
    const token = await app.login(await createMember(db, limited));
    expect(await titles('', token)).toEqual(['web', 'db']);
    const [, , child] = (await list('?root_only=false', token)).body.results;
    expect(child).toMatchObject({ title: 'wsl-b', parent: null });
    expect((await app.call('GET', `/computers/${ids['host']}`, { token })).body.error).toBe('UnknownComputer');
    expect((await app.call('GET', `/computers/${ids['db']}`, { token })).status).toBe(200);
  });

  it('hides children outside the viewable groups', async () => {
    const { db } = database.persistence;
    const limited = { accountId, email: 'desk@fleet.example', role: 'DesktopAdmin', groups: ['desktops'] };
    const token = await app.login(await createMember(db, limited));
    const [host] = (await list('', token)).body.results;
    expect(host.children.map((c: { title: string }) => c.title)).toEqual(['wsl-a']);
  });

  it('ROLE-matrix: forbids what no role grants', async () => {
    const { db } = database.persistence;
    await db.query(
      `insert into role (account_id, name, permissions, global_permissions) values ($1, 'Nothing', '{}', '{}')`,
      [accountId],
    );
    const token = await app.login(await createMember(db, { accountId, email: 'none@fleet.example', role: 'Nothing' }));
    expect((await list('', token)).body).toMatchObject({ error: 'Forbidden', code: 403 });
  });
});
