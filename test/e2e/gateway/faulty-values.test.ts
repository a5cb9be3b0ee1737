import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FactType, factOf } from '../../../src/fleet/inventory/facts.ts';
import { Machine } from '../../../src/fleet/inventory/machine.ts';
import { BFloat, BTuple, type BValue, encode, isDict } from '../../../src/protocol/bpickle.ts';
import {
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
  post,
  RawAgent,
} from '../../support/gateway-world.ts';
import { tellPackages } from '../../support/packages.ts';
import { aProcess, reportedRows } from '../../support/reported-rows.ts';

let world: GatewayWorld;
let agent: RawAgent;
let account: { id: number; name: string };
const { rows, computer, rejected } = reportedRows(
  () => world,
  () => agent,
);

beforeAll(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db);
  await tellPackages(world.db, account.id, 1, 10);
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, account);
  await agent.exchange();
});

const events = async (): Promise<string[]> => {
  const found = await world.db.query<{ message: string }>(
    `select message from event where entity_type = 'Computer' and entity_id = $1 order by id`,
    [agent.id],
  );
  return found.map(({ message }) => message);
};
const cut = (text: string, length: number) => `${text.slice(0, length - 1)}…`;
const long = (length: number) => 'x'.repeat(length);

describe('one value beyond its limit', () => {
  it('in a process leaves the other processes as they are reported', async () => {
    await agent.exchange([
      { type: 'active-process-info', 'kill-all-processes': true, 'add-processes': [aProcess(1), aProcess(5)] },
    ]);
    await agent.exchange([
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
    await agent.exchange([
      { type: 'computer-info', 'total-memory': 4000, 'total-swap': new BFloat(10.5), annotations },
    ]);
    expect(await computer()).toMatchObject({
      total_memory: 4000,
      total_swap: 10,
      annotations: { big: cut(annotations.big, 100_000), rack: '7' },
    });
    await agent.exchange([{ type: 'computer-info', 'total-memory': 2 ** 40, hostname: `${long(1025)}\0` }]);
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
    const { messages } = await agent.exchange([{ type: 'add-packages', 'request-id': 7, packages }]);
    const ids = messages.find(({ type }) => type === 'package-ids')!['ids'] as Array<number | null>;
    expect(ids).toEqual([expect.any(Number), expect.any(Number), null, null, expect.any(Number)]);
    const hashes = [hash('long-4'), Buffer.from('short'), hash('long-1'), hash('long-2')];
    const asked = await agent.exchange([{ type: 'unknown-package-hashes', 'request-id': 8, hashes }]);
    expect(asked.messages).toMatchObject([
      { type: 'package-ids', 'request-id': 8, ids: [ids[4], null, ids[0], ids[1]] },
    ]);
    const stored = await world.db.query(
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

  it('in more hashes than are taken at once leaves the first of them their answers', async () => {
    const hashes = Array.from({ length: 2001 }, (_, i) => createHash('sha1').update(`${i}`).digest());
    const { messages } = await agent.exchange([{ type: 'unknown-package-hashes', 'request-id': 1, hashes }]);
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
    await agent.exchange([
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
    await agent.exchange([{ type: 'network-device', devices: [device(long(65))], 'device-speeds': [] }]);
    expect(await rows('computer_network', 'interface')).toHaveLength(2);
    expect(await rejected()).toEqual([{ type: 'network-device', seen: 1 }]);
  });

  it('of a user or a group leaves the others', async () => {
    await agent.exchange([
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
    await agent.exchange([
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
    await agent.exchange([
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
    await agent.exchange([{ type: 'package-reporter-result', code: 2 ** 31, err: 'E: broken', 'report-timestamp': 1 }]);
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

  it('of text that no UTF-8 has, or of a list that the agent sends along, leaves the payload', async () => {
    const payload = agent.payload([{ type: 'computer-info', hostname: 'aXXXz', 'total-memory': 9 }], {
      'client-accepted-types': ['execute-script', 'x'.repeat(201), 7],
    });
    const bytes = encode(payload);
    bytes.set([0xed, 0xa0, 0x80], bytes.indexOf('XXX'));
    expect((await post(world, bytes, agent.headers())).status).toBe(200);
    expect(await computer()).toMatchObject({ hostname: 'a\ufffdz', total_memory: 9 });
    expect((await rows('computer_inventory', 'client_types'))[0]).toEqual({ client_types: ['execute-script'] });
  });

  it('of a result leaves the result', async () => {
    const ids = [
      await anOperation(world.db, agent.id),
      await anOperation(world.db, agent.id),
      await anOperation(world.db, agent.id),
      await anOperation(world.db, agent.id),
    ];
    await agent.exchange();
    await agent.exchange([
      { type: 'operation-result', 'operation-id': ids[0]!, status: 6, 'result-text': 7, 'result-code': 2 ** 40 },
      {
        type: 'change-packages-result',
        'operation-id': ids[1]!,
        'result-code': 1,
        'must-install': [1, 'x'],
        'result-text': long(200_001),
      },
      { type: 'fde-recovery-key', 'operation-id': ids[2]!, successful: true, 'recovery-key': long(1025) },
      { type: 'change-packages-result', 'operation-id': ids[3]!, 'result-code': 2 ** 31, 'result-text': 'odd' },
    ]);
    const news = await world.db.query(
      'select activity_id, ok, code, body from agent_inbox where kind = $1 and activity_id = any($2) order by activity_id',
      ['result', ids],
    );
    expect(news).toEqual([
      { activity_id: ids[0], ok: true, code: null, body: null },
      { activity_id: ids[1], ok: true, code: 1, body: cut(long(200_001), 200_000) },
      {
        activity_id: ids[2],
        ok: false,
        code: null,
        body: 'The computer reported success without a key that can be kept.',
      },
      { activity_id: ids[3], ok: false, code: null, body: 'odd' },
    ]);
    const noted = (type: string) =>
      `A part of the computer's report ${type} was left out: result-code must be a whole number from -2147483647 to 2147483647`;
    expect(await events()).toEqual(
      expect.arrayContaining([noted('operation-result'), noted('change-packages-result')]),
    );
    expect((await events()).join()).not.toContain(long(101));
  });
});

describe('a message that could not be used at all', () => {
  const BAD: Array<[string, BValue, string]> = [
    ['computer-info', { type: 'computer-info', hostname: 7 }, 'computer'],
    ['active-process-info', { type: 'active-process-info', 'add-processes': 'x' }, 'process'],
    ['users', { type: 'users', 'create-users': [{}] }, 'users'],
    ['network-device', { type: 'network-device', devices: [{}] }, 'network'],
    ['processor-info', { type: 'processor-info', processors: [{}] }, 'cpu'],
    ['snaps', { type: 'snaps', snaps: null }, 'snaps'],
    ['cloud-init', { type: 'cloud-init', 'cloud-init': 'Traceback' }, 'cloud-init'],
    ['livepatch', { type: 'livepatch', livepatch: `${'['.repeat(100)}${']'.repeat(100)}` }, 'livepatch'],
    ['ubuntu-pro-info', { type: 'ubuntu-pro-info' }, 'ubuntu-pro'],
    ['packages', { type: 'packages', installed: ['x'] }, 'package'],
  ];

  it.each(BAD)('%s is requested again in its scope', async (type, message, scope) => {
    const { messages } = await agent.exchange([message]);
    expect(messages).toEqual([{ type: 'resynchronize', 'operation-id': expect.any(Number), scopes: [scope] }]);
    const said = (await events()).at(-1);
    expect(said).toMatch(
      new RegExp(`^The computer's report ${type} could not be used: .+; it is requested again, at most once an hour$`),
    );
  });

  it('is requested at most once an hour, and what came apart meanwhile with it', async () => {
    const [, bad] = BAD[2]!;
    expect((await agent.exchange([bad])).types).toEqual(['resynchronize']);
    expect((await agent.exchange([bad, BAD[3]![1]])).types).toEqual([]);
    world.clock.advance(3_599_000);
    expect((await agent.exchange([])).types).toEqual([]);
    world.clock.advance(1000);
    const { messages } = await agent.exchange([]);
    expect(messages).toMatchObject([{ type: 'resynchronize', scopes: ['network', 'users'] }]);
    world.clock.advance(3_600_000);
    expect((await agent.exchange([])).types).toEqual([]);
  });

  it('replaces what is known when it is reported again', async () => {
    await agent.exchange([
      { type: 'users', 'create-users': [{ username: 'gone', uid: 1 }] },
      { type: 'active-process-info', 'add-processes': [aProcess(1)] },
    ]);
    const { messages } = await agent.exchange([{ type: 'users', 'create-users': 'x' }]);
    const id = messages[0]!['operation-id']!;
    await agent.exchange([
      { type: 'resynchronize', 'operation-id': id },
      { type: 'users', 'create-users': [{ username: 'here', uid: 2 }] },
    ]);
    expect(await rows('computer_user', 'username')).toEqual([{ username: 'here' }]);
    expect(await rows('computer_process', 'pid')).toEqual([{ pid: 1 }]);
  });

  it('is never requested beside an operation', async () => {
    const id = await anOperation(world.db, agent.id);
    expect((await agent.exchange([])).types).toEqual(['install-snaps']);
    agent.next -= 1;
    expect((await agent.exchange([{ type: 'users', 'create-users': 'x' }])).types).toEqual(['install-snaps']);
    await anOperation(world.db, agent.id);
    const asked = await agent.exchange([]);
    expect(asked.types).toEqual(['resynchronize']);
    expect((await agent.exchange([])).types).toEqual(['install-snaps']);
    expect(id).toBeGreaterThan(0);
  });

  it('that the database refuses is requested again too', async () => {
    await world.db.query(`alter table computer_user add constraint refused check (username <> 'refused')`);
    const users = (username: string) => ({ type: 'users', 'create-users': [{ username, uid: 1 }] });
    await agent.exchange([users('fine'), users('refused')]);
    expect(await rows('computer_user', 'username')).toEqual([{ username: 'fine' }]);
    expect((await agent.exchange([])).messages).toMatchObject([{ type: 'resynchronize', scopes: ['users'] }]);
    expect(await events()).toEqual([expect.stringContaining('report users could not be used: could not be stored')]);
  });

  it('of a computer that waits for acceptance says nothing', async () => {
    const waiting = await anAccount(world.db, { autoRegister: false });
    agent = await RawAgent.enrol(world, waiting);
    const { types } = await agent.exchange([BAD[0]![1]]);
    expect(types).not.toContain('resynchronize');
    expect(await events()).toEqual([]);
  });
});

describe('events and metrics', () => {
  it('say the same thing once a day, and never more than twenty things', async () => {
    const titled = (pid: number) => ({
      type: 'active-process-info',
      'add-processes': [aProcess(pid, { name: long(5000) })],
    });
    await agent.exchange([titled(1), titled(2)]);
    await agent.exchange([titled(3)]);
    expect(await events()).toEqual([expect.stringContaining('(process 1, process 2)')]);
    world.clock.advance(86_400_001);
    await agent.exchange([titled(4)]);
    expect(await events()).toHaveLength(2);
    for (let i = 0; i < 30; i++) {
      await agent.exchange([
        { type: 'computer-info', hostname: 'h', annotations: { [`${i}${long(2000)}`]: 'x', a: 'b' } },
      ]);
    }
    expect(await events()).toHaveLength(21);
    expect(await rows('computer_notice', 'count(*)::int as count', '1')).toEqual([{ count: 20 }]);
  });

  it('name no content, and keep each line short', async () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`${i}\u001b[31m\n${long(3000)}`, 'secret']),
    );
    await agent.exchange([{ type: 'computer-info', hostname: 'h', annotations }]);
    const [line] = await events();
    expect(line).toMatch(/and 497 more\)$/);
    expect(line!.length).toBeLessThan(500);
    for (const part of ['secret', '\n', '\u001b']) expect(line).not.toContain(part);
  });

  it('count by type and outcome', async () => {
    const value = async (labels: string) =>
      Number(
        new RegExp(`^flotilla_gateway_faulty_values_total\\{${labels}\\} (\\d+)$`, 'm').exec(
          await world.metrics(),
        )?.[1] ?? 0,
      );
    const labels = ['shortened', 'skipped', 'refused'].map((outcome) => `type="users",outcome="${outcome}"`);
    const before = await Promise.all(labels.map(value));
    await agent.exchange([
      { type: 'users', 'create-users': [{ username: 'a', uid: 1, name: long(5000) }, {}, {}] },
      { type: 'users', 'create-users': [{}] },
      { type: 'none of ours', x: 1 },
      7,
    ]);
    const after = await Promise.all(labels.map(value));
    expect(after.map((count, i) => count - before[i]!)).toEqual([1, 2, 1]);
    expect(await value('type="other",outcome="refused"')).toBeGreaterThan(0);
  });
});

describe('any odd value anywhere in a report', () => {
  const machine = new Machine({ seed: 7, index: 15, epoch: 1_795_265_174 });
  const TYPES: FactType[] = [
    'computer-info',
    'distribution-info',
    'network-device',
    'processor-info',
    'active-process-info',
    'users',
    'snaps',
    'snap-services',
    'snap-info',
    'reboot-required-info',
    'update-manager-info',
    'computer-tags',
    'livepatch',
    'ubuntu-pro-info',
    'hardware-info',
    'cloud-instance-metadata',
  ];
  const odd = fc.oneof(
    fc.constantFrom<BValue>(null, true, -1, 2 ** 31, 2 ** 40, 2n ** 90n, '', '\0', 'a\0b', new BFloat(1.5)),
    fc.constantFrom<BValue>(
      new BFloat(Number.NaN),
      new BFloat(Infinity),
      Buffer.from([0xff, 0xfe]),
      [],
      {},
      [[1]],
      new BTuple([1, 2]),
    ),
    fc.constantFrom<BValue>(
      long(70),
      long(5000),
      long(150_000),
      '\ud800x',
      { a: { b: ['\0'] } },
      '{"a": "\\ud800\\u0000"}',
    ),
  );

  /** The report with the value at one place exchanged, which a number chooses. */
  function exchanged(value: BValue, at: { left: number }, by: BValue): BValue {
    if (at.left-- === 0) return by;
    if (Array.isArray(value)) return value.map((item) => exchanged(item, at, by));
    if (!isDict(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, key === 'type' ? item : exchanged(item, at, by)]),
    );
  }

  it('is either stored or noted, and never refused by the database', async () => {
    const reports = fc.array(fc.tuple(fc.constantFrom(...TYPES), fc.integer({ min: 1, max: 60 }), odd), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(reports, async (changes) => {
        const messages = changes.flatMap(([type, left, by]) => {
          const fact = factOf(type, machine);
          return fact ? [exchanged(fact, { left }, by)] : [];
        });
        const { status } = await agent.exchange([...messages, { type: 'computer-info', 'total-memory': 77 }]);
        expect(status).toBe(200);
        expect((await computer())['total_memory']).toBe(77);
        const reasons = await rows('agent_rejected_message', 'reason', 'reason');
        expect(reasons).not.toContainEqual({ reason: 'could not be stored' });
      }),
      { numRuns: 120 },
    );
  });
});
