import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertComputer, insertPackage, reportKernels, reportPackages } from '../../support/computers/computers.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile } from '../../support/compliance/usg.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = async (method: string, path: string, body?: object) => {
  const response = await world.app.call(method, path, { token: world.tokens.admin, body });
  expect([path, response.status < 300]).toEqual([path, true]);
  return response.body;
};

describe('a machine that reports empty texts of its virtualization', () => {
  it('is shown with null, wherever computers are', async () => {
    const host = await insertComputer(world.db, { accountId: world.accountId, title: 'host', hostagentUid: 'h' });
    const child = { accountId: world.accountId, title: 'child', parentId: host, isWsl: true, hostagentUid: 'h' };
    const wsl = await insertComputer(world.db, child);
    await world.db.query(`update computer set vm_info = '', container_info = ''`);
    const none = { vm_info: null, container_info: null };
    const listed = (await call('GET', '/computers?root_only=false')).results;
    expect(listed.length).toBeGreaterThan(4);
    for (const computer of listed) expect(computer).toMatchObject(none);
    expect(await call('GET', `/computers/${host}`)).toMatchObject({ ...none, children: [{ id: wsl, ...none }] });
    expect(await call('GET', `/computers/${wsl}`)).toMatchObject({ ...none, parent: { id: host, ...none } });
    for (const pending of (await call('GET', '/pending-computers')).results) expect(pending).toMatchObject(none);
    await world.db.query(`update computer set vm_info = null, container_info = null`);
  });
});

describe('an activity in detail', () => {
  it('has a computer_id only where it is about one computer', async () => {
    const snaps = [{ name: 'hello' }];
    const { id } = await call('POST', '/snaps', { action: 'install', computer_ids: [world.ids['web']], snaps });
    const group = await call('GET', `/activities/${id}`);
    expect(group).not.toHaveProperty('computer_id');
    const child = await call('GET', `/activities/${group.children[0].id}`);
    expect(child).toMatchObject({ computer_id: world.ids['web'], parent_id: id });
    const listed = (await call('GET', `/activities?query=id:${id}`)).results;
    expect(listed).toHaveLength(1);
    expect(listed[0]).not.toHaveProperty('computer_id');
    const links = { reapplied_from: null, reapplied_by: null, reverts: null, reverted_by: null };
    expect([group, child]).toMatchObject([links, links]);
  });

  it('names both versions of each change of packages, null for one that there is not', async () => {
    const kernels = await reportKernels(world.db, world.ids['web']!);
    const path = `/computers/${world.ids['web']}/kernel/upgrade`;
    const { id } = await call('POST', path, { kernel_package_id: kernels.next });
    const [child] = (await call('GET', `/activities/${id}`)).children;
    const base = { package: 'linux-image-generic', complemented: false };
    const reported = ['install', 'remove', 'hold', 'unhold'].map((type) => ({ ...base, type, version: '2' }));
    const upgrade = { ...base, type: 'upgrade', install_version: '2', remove_version: '1' };
    await world.db.query('update activity set changes = $2 where id = $1', [
      child.id,
      JSON.stringify([...reported, upgrade]),
    ]);
    const [install, remove, hold, unhold] = reported;
    const shown = [
      { ...install, install_version: '2', remove_version: null },
      { ...remove, install_version: null, remove_version: '2' },
      { ...hold, install_version: null, remove_version: null },
      { ...unhold, install_version: null, remove_version: null },
      upgrade,
    ];
    expect((await call('GET', `/activities/${child.id}`)).changes).toEqual(shown);
    expect((await call('GET', `/activities?query=id:${child.id}`)).results[0].changes).toEqual(shown);
  });

  it('of a restart of a USG profile shows the window in which it is delivered', async () => {
    const over = { mode: 'fix-restart-audit', restart_deliver_delay: 2, restart_deliver_delay_window: 90 };
    const { id } = await call('POST', '/usg-profiles', usgProfile(over));
    const run = await call('POST', `/usg-profiles/${id}:execute`);
    const { children } = await call('GET', `/activities/${run.id}`);
    const restarts = children.filter(({ type }: { type: string }) => type === 'RestartRequest');
    expect(restarts.length).toBeGreaterThan(1);
    for (const restart of restarts) expect(restart.deliver_delay_window).toBe(90);
    expect((await call('GET', `/activities/${restarts[0].id}`)).deliver_delay_window).toBe(90);
  });
});

describe('the kernel of a computer that has none of its own', () => {
  it.each([
    ['a Windows computer', { distribution_info: '{"distributor":"Microsoft"}' }, /^A Windows computer has no kernel/],
    ['a Windows computer, before its report', { hostagent_uid: 'w' }, /^A Windows computer has no kernel packages/],
    ['a container', { container_info: 'lxc' }, /is a container: .*has no kernel packages/],
    ['a WSL instance', { is_wsl: true, hostagent_uid: 'w' }, /is a container: .*has no kernel packages/],
  ])('of %s has an explanation', async (_, columns, message) => {
    const id = await insertComputer(world.db, { accountId: world.accountId, title: 'without' });
    const names = Object.keys(columns).map((name, place) => `${name} = $${place + 2}`);
    await world.db.query(`update computer set ${names.join(', ')} where id = $1`, [id, ...Object.values(columns)]);
    const kernel = await call('GET', `/computers/${id}/hotpatch/kernel`);
    expect(kernel).toMatchObject({ installed: null, upgrades: [], downgrades: [] });
    expect(kernel.message).toMatch(message);
    await reportPackages(world.db, id, { installed: [await insertPackage(world.db, 'curl', '1')] });
    expect((await call('GET', `/computers/${id}/hotpatch/kernel`)).message).toBe(kernel.message);
  });
});
