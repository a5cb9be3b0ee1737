import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BFloat, BTuple, type BValue } from '../../../src/protocol/bpickle.ts';
import { aProcess, reportingAgent } from '../../support/computers/computers.ts';

const { here, rows, computer, rejected, events } = reportingAgent();
const long = (length: number) => 'x'.repeat(length);
const cut = (text: string, length: number) => `${text.slice(0, length - 1)}…`;

describe('one value beyond its limit', () => {
  it('in a process leaves the other processes as they are reported', async () => {
    await here.agent.exchange([
      { type: 'active-process-info', 'kill-all-processes': true, 'add-processes': [aProcess(1), aProcess(5)] },
    ]);
    await here.agent.exchange([
      {
        type: 'active-process-info',
        'add-processes': [
          aProcess(2, { name: '😀'.repeat(4097) }),
          aProcess(2 ** 31),
          aProcess(3, { 'start-time': new BFloat(1_795_265_174.75) }),
          aProcess(4, { uid: -7, gid: 'x', 'vm-size': 2n ** 80n, state: Buffer.from('sleeping!'), 'percent-cpu': 'x' }),
          { ...aProcess(6), 'start-time': null },
          'nonsense',
        ],
        'update-processes': [aProcess(5, { 'start-time': 2 ** 50 })],
        'kill-processes': [1, 2 ** 40, 'x'],
      },
    ]);
    expect(await rows('computer_process', 'pid, name, state, start_time, uid, vm_size', 'pid')).toEqual([
      { pid: 2, name: `${'😀'.repeat(4095)}…`, state: 'S', start_time: 1_795_265_176, uid: 0, vm_size: 100 },
      { pid: 3, name: 'p3', state: 'S', start_time: 1_795_265_174, uid: 0, vm_size: 100 },
      { pid: 4, name: 'p4', state: 'sleepin…', start_time: 1_795_265_178, uid: null, vm_size: null },
    ]);
    expect(await rejected()).toEqual([]);
    expect(await events()).toEqual(
      expect.arrayContaining([
        "Text in the computer's report active-process-info was cut: the name of a process is longer than 4096 characters (process 2)",
        'A part of the computer\'s report active-process-info was left out: pid must be a whole number from 0 to 2147483647 (process 2147483648, process 1099511627776, process "x")',
        "A part of the computer's report active-process-info was left out: percent-cpu must be a number below 1000000000 (process 4)",
      ]),
    );
  });

  it('in an annotation leaves the memory and the other annotations', async () => {
    const annotations = { big: long(100_001), rack: '7\n', [long(1025)]: 'y', number: 7 };
    await here.agent.exchange([
      { type: 'computer-info', 'total-memory': 4000, 'total-swap': new BFloat(10.5), annotations },
    ]);
    expect(await computer()).toMatchObject({
      total_memory: 4000,
      total_swap: 10,
      annotations: { big: cut(annotations.big, 100_000), rack: '7' },
    });
    await here.agent.exchange([{ type: 'computer-info', 'total-memory': 2 ** 40, hostname: `${long(1025)}\0` }]);
    expect(await computer()).toMatchObject({ total_memory: 4000, hostname: cut(long(1025), 1024) });
    expect(await rejected()).toEqual([]);
  });

  it('in the description of a package leaves every package of the request its id', async () => {
    const relation = `a${' | b'.repeat(6000)}`;
    const describe = (name: string, over: Record<string, BValue> = {}): Record<string, BValue> => ({
      type: 65537,
      name,
      version: '1',
      section: 'misc',
      summary: 's',
      description: 'd',
      size: 1,
      'installed-size': 1,
      relations: [new BTuple([262148, relation])],
      ...over,
    });
    const hash = (name: string) => createHash('sha1').update(`[65537 ${name} 1][262148 ${relation}]`).digest();
    const packages = [
      describe('long-1', { description: long(100_001) }),
      describe('long-2', { summary: long(10_001), section: long(513), size: -1, 'installed-size': 'x' }),
      describe('long-3', { name: long(513) }),
      'nonsense',
      describe('long-4'),
    ];
    const { messages } = await here.agent.exchange([{ type: 'add-packages', 'request-id': 7, packages }]);
    const ids = messages.find(({ type }) => type === 'package-ids')!['ids'] as Array<number | null>;
    expect(ids).toEqual([expect.any(Number), expect.any(Number), null, null, expect.any(Number)]);
    const hashes = [hash('long-4'), Buffer.from('short'), hash('long-1'), hash('long-2')];
    const requested = await here.agent.exchange([{ type: 'unknown-package-hashes', 'request-id': 8, hashes }]);
    expect(requested.messages).toMatchObject([
      { type: 'package-ids', 'request-id': 8, ids: [ids[4], null, ids[0], ids[1]] },
    ]);
    const stored = await here.world.db.query(
      `select description, summary, section, size, relations->0->>1 = $2 as cut from package
       where id = any($1) order by name`,
      [ids.filter((id) => id !== null), cut(relation, 20_000)],
    );
    expect(stored).toEqual([
      { description: cut(long(100_001), 100_000), summary: 's', section: 'misc', size: 1, cut: true },
      { description: 'd', summary: cut(long(10_001), 10_000), section: cut(long(513), 512), size: null, cut: true },
      { description: 'd', summary: 's', section: 'misc', size: 1, cut: true },
    ]);
    expect(await rejected()).toEqual([]);
  });

  it('in more hashes than are taken at once leaves the first of them their responses', async () => {
    const hashes = Array.from({ length: 2001 }, (_, i) => createHash('sha1').update(`${i}`).digest());
    const { messages } = await here.agent.exchange([{ type: 'unknown-package-hashes', 'request-id': 1, hashes }]);
    expect(messages[0]!['ids']).toHaveLength(2000);
  });

  it('in an interface leaves the other interfaces', async () => {
    const device = (name: string, over: Record<string, BValue> = {}) => ({
      interface: Buffer.from(name),
      ip_address: Buffer.from('10.0.0.5'),
      mac_address: Buffer.from('00:16:3e:00:00:01'),
      broadcast_address: Buffer.from('10.0.0.255'),
      netmask: Buffer.from('255.255.255.0'),
      flags: 4163,
      ...over,
    });
    await here.agent.exchange([
      {
        type: 'network-device',
        devices: [
          device('eth0'),
          device(long(65)),
          device('eth1', { netmask: long(65), flags: -1, mac_address: null }),
          {},
        ],
        'device-speeds': [{ interface: long(65) }, { interface: 'eth0', speed: 1000, duplex: 'x' }, 7],
      },
    ]);
    expect(await rows('computer_network', 'interface, mac_address, netmask, flags, active, speed, duplex')).toEqual([
      {
        interface: 'eth0',
        mac_address: '00:16:3e:00:00:01',
        netmask: '255.255.255.0',
        flags: 4163,
        active: true,
        speed: 1000,
        duplex: null,
      },
      {
        interface: 'eth1',
        mac_address: '',
        netmask: cut(long(65), 64),
        flags: 0,
        active: false,
        speed: null,
        duplex: null,
      },
    ]);
    expect(await events()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/left out: the name of an interface is longer than 64 characters \(interface "x{65}"/),
      ]),
    );
    await here.agent.exchange([{ type: 'network-device', devices: [device(long(65))], 'device-speeds': [] }]);
    expect(await rows('computer_network', 'interface')).toHaveLength(2);
    expect(await rejected()).toEqual([{ type: 'network-device', seen: 1 }]);
  });

  it('of a user or a group leaves the others', async () => {
    await here.agent.exchange([
      {
        type: 'users',
        'create-users': [
          { username: long(257), uid: 1 },
          { username: 'a', uid: 2 ** 40, name: long(4097), enabled: 'yes', location: 7 },
          { username: 'b\0', uid: 2, 'primary-gid': 'x' },
        ],
        'update-users': 'nonsense',
        'create-groups': [{ name: 'g', gid: 'x' }, { name: long(257), gid: 1 }, 9],
        'delete-users': ['x', 7],
        'create-group-members': { g: ['a', 7, 'b'], h: 'x', [long(257)]: ['a'] },
      },
    ]);
    expect(await rows('computer_user', 'username, uid, name, enabled, location')).toEqual([
      { username: 'a', uid: null, name: cut(long(4097), 4096), enabled: true, location: null },
      { username: 'b', uid: 2, name: null, enabled: true, location: null },
    ]);
    expect(await rows('computer_group', 'name, gid, members')).toEqual([{ name: 'g', gid: null, members: ['a', 'b'] }]);
    expect(await rejected()).toEqual([]);
  });

  it('of snaps, services and processors leaves the others', async () => {
    const snap = (name: string, over: Record<string, BValue> = {}) => ({
      name,
      id: 'i',
      version: '1',
      revision: '1',
      ...over,
    });
    await here.agent.exchange([
      {
        type: 'snaps',
        snaps: {
          installed: [
            snap('a', { version: long(257), publisher: 'x', summary: long(100_001), config: long(100_001) }),
            snap(long(257)),
            snap('b', { revision: 7, publisher: { username: 7 }, 'tracking-channel': 'latest/stable' }),
            null,
          ],
        },
      },
      { type: 'snap-services', services: { running: ['x', { name: 'daemon' }] } },
      {
        type: 'processor-info',
        processors: [
          { 'processor-id': -1 },
          { 'processor-id': 0, model: long(1025), 'cache-size': 2 ** 40 },
          { 'processor-id': new BFloat(1), vendor: 7, 'cache-size': 5 },
        ],
      },
      { type: 'snap-info', brand: 7, model: long(1025) },
    ]);
    expect(await rows('computer_snap', 'name, version, revision, tracking_channel, config')).toEqual([
      { name: 'a', version: cut(long(257), 256), revision: '1', tracking_channel: null, config: null },
      { name: 'b', version: '1', revision: '7', tracking_channel: 'latest/stable', config: null },
    ]);
    expect((await rows('computer_inventory', 'snap_services, processors, snap_device'))[0]).toEqual({
      snap_services: [{ name: 'daemon' }],
      processors: [
        { id: 0, model: cut(long(1025), 1024), vendor: null, cache_size: null },
        { id: 1, model: null, vendor: null, cache_size: 5 },
      ],
      snap_device: { model: cut(long(1025), 1024) },
    });
    expect(await rejected()).toEqual([]);
  });

  it('of anything else leaves what stands beside it', async () => {
    await here.agent.exchange([
      { type: 'distribution-info', release: '24.04', description: long(1025), 'code-name': 7 },
      { type: 'cloud-instance-metadata', 'instance-id': 'i-1', 'ami-id': [], 'instance-type': long(1025) },
      { type: 'reboot-required-info', flag: 'yes', packages: ['linux', 7, long(1025)] },
      { type: 'update-manager-info', prompt: long(65) },
      { type: 'computer-tags', tags: `web,no tag,${long(256)},db` },
      { type: 'apt-preferences', data: { a: long(1_000_001), b: 'Pin', [long(4097)]: 'x' } },
      { type: 'package-reporter-result', code: 0, err: long(100_031), 'report-timestamp': 'x' },
      { type: 'packages', installed: [1, 'x', 2 ** 31, new BTuple([5, 4]), new BTuple([2, 3])] },
      { type: 'hardware-info', data: `<list><node id="x" class="y"/>${long(8 * 1024 * 1024)}` },
    ]);
    expect(await computer()).toMatchObject({
      distribution: '24.04',
      distribution_info: { description: cut(long(1025), 1024), code_name: null },
      cloud_instance_metadata: { 'instance-id': 'i-1', 'instance-type': cut(long(1025), 1024) },
      reboot_required: false,
      reboot_packages: ['linux', cut(long(1025), 1024)],
      update_manager_prompt: cut(long(65), 64),
      tags: ['db', 'web'],
    });
    expect((await rows('computer_inventory', 'apt_preferences, package_report'))[0]).toEqual({
      apt_preferences: { a: cut(long(1_000_001), 1_000_000), b: 'Pin' },
      package_report: { code: 0, err: cut(long(100_031), 100_000), report_timestamp: null },
    });
    await here.agent.exchange([
      { type: 'package-reporter-result', code: 2 ** 31, err: 'E: broken', 'report-timestamp': 1 },
    ]);
    expect((await rows('computer_inventory', 'package_report'))[0]).toEqual({
      package_report: { code: 2 ** 31, err: 'E: broken', report_timestamp: 1 },
    });
    expect(await rows('computer_packages', 'installed::text')).toEqual([{ installed: '{[1,4)}' }]);
    expect(await rows('computer_hardware', 'length(data) as length, json_array_length(flat) as nodes')).toEqual([
      { length: 8 * 1024 * 1024, nodes: 1 },
    ]);
    expect(await rejected()).toEqual([]);
    expect(await events()).toEqual(
      expect.arrayContaining([expect.stringMatching(/computer-tags was left out: .*\(tag "no tag", tag "x{100}…"\)/)]),
    );
  });
});
