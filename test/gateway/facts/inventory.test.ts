import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BFloat, type BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { RawAgent } from '../../support/agents/raw-agent.ts';
import { aProcess, reportedRows, announcePackages } from '../../support/computers/computers.ts';

let world: GatewayWorld;
let agent: RawAgent;
let account: { id: number; name: string };
const { rows, computer } = reportedRows(
  () => world,
  () => agent,
);

beforeAll(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db);
  await announcePackages(world.db, account.id, 1);
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, account, { tags: 'own' });
  await agent.exchange();
});

describe('facts of the computer itself', () => {
  it('are kept as reported, deltas merged', async () => {
    await agent.exchange([
      {
        type: 'computer-info',
        hostname: 'web-1.example.com',
        'total-memory': 2000,
        'total-swap': 10,
        'machine-id': 'abc',
      },
      { type: 'computer-info', 'total-memory': 4000 },
      {
        type: 'distribution-info',
        'distributor-id': 'Ubuntu',
        description: 'Ubuntu 24.04',
        release: '24.04',
        'code-name': 'noble',
      },
      { type: 'cloud-instance-metadata', 'instance-id': 'i-1', 'instance-type': 't3', 'ami-id': 'ami' },
      { type: 'cloud-init', 'cloud-init': '{"error": "", "output": {"availability_zone": "a"}, "return_code": 0}' },
      { type: 'update-manager-info', prompt: 'lts' },
      { type: 'reboot-required-info', flag: true },
      { type: 'reboot-required-info', packages: ['linux', 'dbus'] },
      { type: 'ubuntu-pro-info', 'ubuntu-pro-info': '{"attached": true, "services": []}' },
      { type: 'ubuntu-pro-reboot-required', 'ubuntu-pro-reboot-required': '{"error": "", "output": {}}' },
      { type: 'livepatch', livepatch: '{"humane": {"return_code": -1}, "json": {"text": "a\\u0000b"}}' },
    ]);
    expect(await computer()).toMatchObject({
      hostname: 'web-1.example.com',
      total_memory: 4000,
      total_swap: 10,
      machine_id: 'abc',
      distribution: '24.04',
      distribution_info: { distributor: 'Ubuntu', description: 'Ubuntu 24.04', release: '24.04', code_name: 'noble' },
      cloud_instance_metadata: { 'instance-id': 'i-1', 'instance-type': 't3', 'ami-id': 'ami' },
      cloud_init: { availability_zone: 'a' },
      update_manager_prompt: 'lts',
      reboot_required: true,
      reboot_packages: ['dbus', 'linux'],
      distro_pro_info: { attached: true, services: [] },
      distro_pro_reboot_required_info: { error: '', output: {} },
      hotpatch_info: { humane: { return_code: -1 }, json: { text: 'ab' } },
    });
    await agent.exchange([{ type: 'ubuntu-pro-info', 'ubuntu-pro-info': '{}' }]);
    expect(await computer()).toMatchObject({ distro_pro_info: null, hostname: 'web-1.example.com' });
  });

  it('write nothing when they report what is known', async () => {
    const facts: BValue[] = [
      { type: 'computer-info', hostname: 'h', 'total-memory': 1 },
      { type: 'ubuntu-pro-info', 'ubuntu-pro-info': '{"attached": false}' },
      { type: 'snap-info', brand: 'generic' },
    ];
    await agent.exchange(facts);
    const versions = () =>
      world.db.query(
        `select c.xmin as c, i.xmin as i from computer c join computer_inventory i on i.computer_id = c.id where id = $1`,
        [agent.id],
      );
    const before = await versions();
    await agent.exchange(facts);
    expect(await versions()).toEqual(before);
  });

  it('keep text that is no JSON, and never fail over it', async () => {
    await agent.exchange([{ type: 'livepatch', livepatch: 'Traceback\0!' }]);
    expect((await rows('computer_inventory', 'unparsed'))[0]).toEqual({ unparsed: { livepatch: 'Traceback!' } });
  });

  it('AGENT-clock: never take the time from a computer', async () => {
    await agent.exchange([
      { type: 'package-reporter-result', code: 0, err: '', 'report-timestamp': new BFloat(-3e8), timestamp: -3e8 },
      {
        type: 'active-process-info',
        'add-processes': [aProcess(1, { 'start-time': 2_110_000_000 })],
        timestamp: 2_110_000_000,
      },
      { type: 'active-process-info', 'add-processes': [aProcess(2, { 'start-time': -5 })], timestamp: 5 },
    ]);
    const [row] = await rows('computer_inventory', `package_report->'report_timestamp' as at`);
    expect(row).toEqual({ at: -3e8 });
    expect(await rows('computer_process', 'start_time', 'pid')).toEqual([
      { start_time: 2_110_000_000 },
      { start_time: -5 },
    ]);
    await expect
      .poll(() => rows('computer_contact', 'last_exchange_time'))
      .toEqual([{ last_exchange_time: world.clock.now() }]);
  });
});

describe('tags and annotations', () => {
  const tags = async () => (await computer())['tags'];

  it('follow the machine without undoing what people did', async () => {
    expect(await tags()).toEqual(['own']);
    await world.db.query(`update computer set tags = '{ours}' where id = $1`, [agent.id]);
    await agent.exchange([{ type: 'computer-tags', tags: 'own' }]);
    expect(await tags()).toEqual(['ours']);
    await agent.exchange([{ type: 'computer-tags', tags: 'own,new,b@d' }]);
    expect(await tags()).toEqual(['new', 'ours']);
    await agent.exchange([{ type: 'computer-tags', tags: null }]);
    expect(await tags()).toEqual(['ours']);
  });

  it('replace annotations of the machine and keep those made here', async () => {
    await world.db.query(`update computer set annotations = '{"here": "1"}' where id = $1`, [agent.id]);
    await agent.exchange([{ type: 'computer-info', annotations: { rack: '7\n', __proto__x: 'y', removed: 'z' } }]);
    expect((await computer())['annotations']).toEqual({ here: '1', rack: '7', __proto__x: 'y', removed: 'z' });
    await agent.exchange([{ type: 'computer-info', annotations: { rack: '8' } }]);
    expect((await computer())['annotations']).toEqual({ here: '1', rack: '8' });
  });
});

describe('devices', () => {
  const device = (name: string, ip: string, flags: number) => ({
    interface: Buffer.from(name),
    ip_address: Buffer.from(ip),
    mac_address: Buffer.from('00:16:3e:00:00:01'),
    broadcast_address: Buffer.from('10.0.0.255'),
    netmask: Buffer.from('255.255.255.0'),
    flags,
  });

  it('replace network devices, keeping former ones as inactive', async () => {
    await agent.exchange([
      {
        type: 'network-device',
        devices: [device('eth0', '10.0.0.5', 4163), device('eth1', '0.0.0.0', 4098), device('eth2', '10.0.0.6', 4163)],
        'device-speeds': [{ interface: Buffer.from('eth0'), speed: 1000, duplex: true }],
      },
    ]);
    const columns = 'interface, ip_address, active, speed, duplex';
    expect(await rows('computer_network', columns)).toEqual([
      { interface: 'eth0', ip_address: '10.0.0.5', active: true, speed: 1000, duplex: true },
      { interface: 'eth1', ip_address: '0.0.0.0', active: false, speed: null, duplex: null },
      { interface: 'eth2', ip_address: '10.0.0.6', active: true, speed: null, duplex: null },
    ]);
    await agent.exchange([
      { type: 'network-device', devices: [device('eth0', '10.0.0.9', 4163)], 'device-speeds': [] },
    ]);
    expect(await rows('computer_network', 'interface, ip_address, active')).toEqual([
      { interface: 'eth0', ip_address: '10.0.0.9', active: true },
      { interface: 'eth1', ip_address: '0.0.0.0', active: false },
      { interface: 'eth2', ip_address: '10.0.0.6', active: false },
    ]);
  });

  it('remember of the former interfaces those seen last', async () => {
    const report = (...names: string[]) =>
      agent.exchange([
        { type: 'network-device', devices: names.map((name) => device(name, '10.0.0.5', 4163)), 'device-speeds': [] },
      ]);
    await report('kept', ...Array.from({ length: 300 }, (_, i) => `aaa${i}`));
    await report('kept', ...Array.from({ length: 200 }, (_, i) => `zzz${i}`));
    await report('kept', 'mmm', 'aaa7');
    await report('kept');
    const names = async () => (await rows('computer_network', 'interface')).map((row) => row['interface']);
    const known = await names();
    expect(known).toHaveLength(257);
    expect(known.filter((name) => String(name).startsWith('zzz'))).toHaveLength(200);
    expect(known).toEqual(expect.arrayContaining(['kept', 'mmm', 'aaa7']));
    for (let i = 0; i < 3; i++) await report('kept', `once${i}`);
    await report('kept');
    expect(await names()).toEqual(expect.arrayContaining(['kept', 'once0', 'once1', 'once2', 'mmm', 'aaa7']));
    expect(await names()).toHaveLength(257);
  });

  it('keep hardware, processors, snaps, services, device identity and preferences', async () => {
    const snap = (name: string, revision: string) => ({
      name,
      id: `id-${name}`,
      version: '1',
      revision,
      confinement: 'strict',
      config: '{}',
      publisher: { username: 'canonical', validation: 'verified' },
    });
    await agent.exchange([
      { type: 'hardware-info', data: '<node id="x"/>' },
      { type: 'processor-info', processors: [{ 'processor-id': 0, model: 'M', vendor: 'V', 'cache-size': 4096 }] },
      { type: 'snaps', snaps: { installed: [snap('lxd', '1'), snap('jq', '2')] } },
      { type: 'snap-services', services: { running: [{ name: 'daemon', snap: 'lxd', enabled: true }] } },
      { type: 'snap-info', brand: 'generic', model: 'm' },
      { type: 'apt-preferences', data: { 'preferences.d/x': 'Pin: release' } },
    ]);
    await agent.exchange([
      { type: 'snaps', snaps: { installed: [{ ...snap('lxd', '3'), config: 'x'.repeat(100_001) }] } },
      { type: 'snap-info', serial: 's' },
    ]);
    expect(await rows('computer_hardware', 'data')).toEqual([{ data: '<node id="x"/>' }]);
    expect(await rows('computer_snap', 'name, revision, publisher_username')).toEqual([
      { name: 'lxd', revision: '3', publisher_username: 'canonical' },
    ]);
    expect((await rows('computer_inventory'))[0]).toMatchObject({
      processors: [{ id: 0, model: 'M', vendor: 'V', cache_size: 4096 }],
      snap_services: [{ name: 'daemon', snap: 'lxd', enabled: true }],
      snap_device: { brand: 'generic', model: 'm', serial: 's' },
      apt_preferences: { 'preferences.d/x': 'Pin: release' },
    });
  });
});

describe('an agent that starts over', () => {
  it('loses what it reports anew and keeps what it does not', async () => {
    await agent.exchange([
      { type: 'active-process-info', 'add-processes': [aProcess(1)] },
      { type: 'users', 'create-users': [{ username: 'gone', uid: 1 }], 'create-groups': [{ name: 'g', gid: 1 }] },
      { type: 'snaps', snaps: { installed: [{ name: 'lxd', id: 'x', version: '1', revision: '1' }] } },
      { type: 'packages', installed: [1] },
    ]);
    await agent.exchange([
      { type: 'active-process-info', 'add-processes': [aProcess(9)] },
      { type: 'resynchronize' },
      { type: 'active-process-info', 'kill-all-processes': true, 'add-processes': [aProcess(2)] },
      { type: 'users', 'create-users': [{ username: 'root', uid: 0 }] },
    ]);
    expect(await rows('computer_process', 'pid')).toEqual([{ pid: 2 }]);
    expect(await rows('computer_user', 'username')).toEqual([{ username: 'root' }]);
    expect(await rows('computer_group', 'name')).toEqual([]);
    expect(await rows('computer_snap', 'name')).toEqual([{ name: 'lxd' }]);
    expect(await rows('computer_packages', 'installed::text, restart')).toEqual([
      { installed: '{[1,2)}', restart: true },
    ]);
  });
});

describe('removing a computer', () => {
  it('removes everything it reported', async () => {
    await agent.exchange([
      { type: 'active-process-info', 'add-processes': [aProcess(1)] },
      { type: 'users', 'create-users': [{ username: 'a', uid: 1 }] },
      { type: 'hardware-info', data: 'x' },
      { type: 'packages', installed: [1] },
      {},
    ]);
    await world.db.query('delete from computer where id = $1', [agent.id]);
    const tables = await world.db.query<{ name: string }>(
      `select table_name as name from information_schema.columns
       where column_name = 'computer_id' and table_schema = 'public' and table_name not in ('agent_identity', 'cloud_event')`,
    );
    for (const { name } of tables) expect(await rows(name), name).toEqual([]);
  });
});
