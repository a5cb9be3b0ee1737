import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BTuple, type BValue } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { RawAgent } from '../../support/agents/raw-agent.ts';
import { aProcess, reportedRows, announcePackages } from '../../support/computers/computers.ts';

let world: GatewayWorld;
let agent: RawAgent;
let account: { id: number; name: string };
const { rows } = reportedRows(
  () => world,
  () => agent,
);

beforeAll(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db);
  await announcePackages(world.db, account.id, 1, 10);
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, account, { tags: 'own' });
  await agent.exchange();
});

describe('processes', () => {
  const pids = async () => (await rows('computer_process', 'pid', 'pid')).map((row) => row['pid']);

  it('of a machine that was offline for long come all at once', async () => {
    const messages = Array.from({ length: 100 }, (_, message) => ({
      type: 'active-process-info',
      'update-processes': Array.from({ length: 700 }, (_, pid) => aProcess(pid + 1, { name: `at ${message}` })),
    }));
    expect(await agent.exchange(messages)).toMatchObject({ status: 200, nextExpected: 100 });
    const [row] = await rows('computer_process', 'count(*)::int as count, min(name) as least, max(name) as last', '1');
    expect(row).toEqual({ count: 700, least: 'at 99', last: 'at 99' });
  });

  it('follow deltas, applied once or twice', async () => {
    const delta = {
      type: 'active-process-info',
      'add-processes': [aProcess(1), aProcess(2)],
      'kill-processes': [3],
    };
    await agent.exchange([{ type: 'active-process-info', 'add-processes': [aProcess(3)] }]);
    await agent.exchange([delta, delta]);
    expect(await pids()).toEqual([1, 2]);
    await agent.exchange([{ type: 'active-process-info', 'kill-all-processes': true, 'add-processes': [aProcess(2)] }]);
    expect(await pids()).toEqual([2]);
    await agent.exchange([
      { type: 'active-process-info', 'update-processes': [aProcess(2, { name: 'renamed' })] },
      { type: 'active-process-info', 'kill-processes': [2] },
      { type: 'active-process-info', 'add-processes': [aProcess(2, { name: 'again', 'percent-cpu': 3 })] },
    ]);
    expect(await rows('computer_process', 'pid, name, state, cpu_utilisation')).toEqual([
      { pid: 2, name: 'again', state: 'S', cpu_utilisation: 3 },
    ]);
  });
});

describe('users and groups', () => {
  it('follow deltas', async () => {
    const user = (username: string, uid: number) => ({ username, uid, name: null, enabled: true, 'primary-gid': uid });
    await agent.exchange([
      {
        type: 'users',
        'create-users': [user('root', 0), user('ubuntu', 1000)],
        'create-groups': [
          { gid: 27, name: 'sudo' },
          { gid: 5, name: 'old' },
        ],
        'create-group-members': { sudo: ['ubuntu', 'root'] },
      },
    ]);
    await agent.exchange([
      {
        type: 'users',
        'update-users': [user('ubuntu', 1001)],
        'delete-users': ['root'],
        'delete-groups': ['old'],
        'delete-group-members': { sudo: ['root'] },
      },
    ]);
    expect(await rows('computer_user', 'username, uid')).toEqual([{ username: 'ubuntu', uid: 1001 }]);
    expect(await rows('computer_group', 'name, gid, members')).toEqual([
      { name: 'sudo', gid: 27, members: ['ubuntu'] },
    ]);
  });

  it('are stored without passwords, whatever an agent reports', async () => {
    const hash = '$6$salt$never-stored';
    const user = {
      username: 'ada',
      uid: 1000,
      name: 'Ada',
      enabled: true,
      password: hash,
      passwd: hash,
      shadow: [hash],
    };
    await agent.exchange([
      { type: 'users', 'create-users': [user], 'create-groups': [{ name: 'g', gid: 1, password: hash }], shadow: hash },
    ]);
    const stored = [
      await rows('computer_user', '*'),
      await rows('computer_group', '*'),
      await rows('computer_inventory', 'unparsed, package_report'),
    ];
    expect(stored[0]).toMatchObject([{ username: 'ada' }]);
    expect(JSON.stringify(stored)).not.toContain('never-stored');
  });
});

const description = (name: string, version: string): Record<string, BValue> => ({
  type: 65537,
  name,
  version,
  section: 'misc',
  summary: 's',
  description: 'd',
  size: null,
  'installed-size': 8192,
  relations: [new BTuple([393224, `${name} < ${version}`]), new BTuple([196610, `${name} = ${version}`])],
});

const sets = async () =>
  (await rows('computer_packages', 'installed::text, available::text, security::text, restart'))[0];

describe('packages', () => {
  it('get ids that are the same for all computers', async () => {
    const hash = Buffer.from('88ab80f0e3485e7e0a2c53019ecc3f109cbdb04b', 'hex');
    const unknownHashes = { type: 'unknown-package-hashes', 'request-id': 1, hashes: [hash, Buffer.alloc(20)] };
    const unknown = await agent.exchange([unknownHashes]);
    expect(unknown.messages).toEqual([{ type: 'package-ids', 'request-id': 1, ids: [null, null] }]);
    const packages = [description('jq', '1.7'), description('hello', '2.10-3'), description('jq', '1.7')];
    const added = await agent.exchange([{ type: 'add-packages', 'request-id': 2, packages }]);
    const ids = added.messages[0]!['ids'] as number[];
    expect(ids[0]).toBe(ids[2]);
    const other = await RawAgent.enrol(world, account);
    const known = await other.exchange([unknownHashes]);
    expect(known.messages).toEqual([{ type: 'package-ids', 'request-id': 1, ids: [ids[1]!, null] }]);
  });

  it('show by the requests for their ids how far the list is', async () => {
    const hashes = Array.from({ length: 1200 }, (_, i) => createHash('sha1').update(String(i)).digest());
    hashes.sort(Buffer.compare);
    const requested = async (part: readonly Buffer[]) => {
      await agent.exchange([{ type: 'unknown-package-hashes', 'request-id': 1, hashes: [...part] }]);
      return (await rows('computer_inventory', 'packages_requested'))[0]!['packages_requested'] as number | null;
    };
    expect(await requested(hashes.slice(0, 100))).toBeNull();
    const [first, second] = [await requested(hashes.slice(0, 500)), await requested(hashes.slice(500, 1000))];
    expect(Math.abs(first! - 500 / 12)).toBeLessThan(6);
    expect(Math.abs(second! - 1000 / 12)).toBeLessThan(6);
    await agent.exchange();
    expect(await requested(hashes.slice(0, 500).reverse())).toBeNull();
    expect(await requested(hashes.slice(500, 1000))).toBe(second);
    expect(await requested(hashes.slice(1000))).toBeNull();
  });

  it('are described at the same time by many computers without waiting for each other', async () => {
    const packages = Array.from({ length: 300 }, (_, i) => description(`many-${i}`, '1'));
    const agents = await Promise.all(Array.from({ length: 6 }, () => RawAgent.enrol(world, account)));
    const responses = await Promise.all(
      agents.map((one, i) =>
        one.exchange([
          { type: 'add-packages', 'request-id': i, packages: i % 2 === 0 ? packages : [...packages].reverse() },
        ]),
      ),
    );
    const ids = responses.map((response) => [...(response.messages[0]!['ids'] as number[])].sort((a, b) => a - b));
    for (const list of ids) expect(list).toEqual(ids[0]);
    expect(new Set(ids[0])).toHaveLength(300);
  });

  it('follow deltas of ids and ranges, applied once or twice', async () => {
    const delta = {
      type: 'packages',
      installed: [1, new BTuple([5, 8])],
      available: [new BTuple([1, 10])],
      security: [7],
    };
    await agent.exchange([delta, delta]);
    expect(await sets()).toMatchObject({ installed: '{[1,2),[5,9)}', available: '{[1,11)}', security: '{[7,8)}' });
    await agent.exchange([
      { type: 'packages', installed: [9], 'not-installed': [new BTuple([5, 6]), 1], 'not-security': [7] },
    ]);
    expect(await sets()).toMatchObject({ installed: '{[7,10)}', available: '{[1,11)}', security: '{}' });
  });

  it('are requested afresh when the sets have come apart, and never beside an operation', async () => {
    await agent.exchange([{ type: 'packages', installed: [1, 2] }]);
    const apart = await agent.exchange([{ type: 'packages', 'not-installed': [99] }]);
    expect(apart.messages).toEqual([]);
    const requested = await agent.exchange();
    expect(requested.messages).toEqual([
      { type: 'resynchronize', 'operation-id': expect.any(Number), scopes: ['package'] },
    ]);
    const id = requested.messages[0]!['operation-id'] as number;
    await agent.exchange([{ type: 'resynchronize', 'operation-id': id }]);
    expect(await sets()).toMatchObject({ installed: '{[1,3)}', restart: true });
    await agent.exchange([{ type: 'packages', installed: [4] }]);
    expect(await sets()).toMatchObject({ installed: '{[4,5)}', restart: false });
  });

  it('ignore removals while they are reported anew', async () => {
    await agent.exchange([{ type: 'packages', installed: [1], security: [7] }]);
    await agent.exchange([{ type: 'resynchronize' }, { type: 'packages', installed: [4], 'not-security': [7] }]);
    expect(await sets()).toMatchObject({ installed: '{[4,5)}', security: '{}' });
    expect((await agent.exchange()).messages).toEqual([]);
  });
});

describe('packages that were not reported to an account', () => {
  const SIX_HOURS = 6 * 3_600_000;
  const add = async (one: RawAgent, name: string): Promise<number> => {
    const packages = [description(name, '1')];
    const response = await one.exchange([{ type: 'add-packages', 'request-id': 1, packages }]);
    return (response.messages[0]!['ids'] as number[])[0]!;
  };
  const requestedAnew = async (): Promise<BValue> => {
    const [requested] = (await agent.exchange()).messages;
    expect(requested).toMatchObject({ type: 'resynchronize', scopes: ['package'] });
    return requested!['operation-id']!;
  };

  it('cannot be named by its computers, which have to report them again', async () => {
    await add(agent, 'in-house');
    const outsider = await RawAgent.enrol(world, await anAccount(world.db));
    const own = await add(outsider, 'own');
    const all = [new BTuple([1, 2_147_483_646])];
    await outsider.exchange([{ type: 'packages', installed: all, available: all, 'available-upgrades': all }]);
    const stored = await world.db.query(
      'select installed::text, available::text, available_upgrades::text from computer_packages where computer_id = $1',
      [outsider.id],
    );
    const only = `{[${own},${own + 1})}`;
    expect(stored).toEqual([{ installed: only, available: only, available_upgrades: only }]);
    expect((await outsider.exchange()).types).toEqual(['resynchronize']);
  });

  // As an older gateway beside a newer one, or one whose database was restored.
  it('count once it requested them, where it received them without a record', async () => {
    const id = await add(await RawAgent.enrol(world, await anAccount(world.db)), 'in-between');
    await agent.exchange([{ type: 'packages', installed: [id] }]);
    expect(await sets()).toMatchObject({ installed: '{}' });
    await agent.exchange([{ type: 'resynchronize', 'operation-id': await requestedAnew() }]);
    expect(await add(agent, 'in-between')).toBe(id);
    await agent.exchange([{ type: 'packages', installed: [id] }]);
    expect(await sets()).toMatchObject({ installed: `{[${id},${id + 1})}` });
    expect((await agent.exchange()).messages).toEqual([]);
  });

  it('go from set to set of a computer that had them before that was recorded', async () => {
    const had = '{[2000000000,2000000001)}';
    await world.db.query('insert into computer_packages (computer_id, available, updated_at) values ($1, $2, now())', [
      agent.id,
      had,
    ]);
    await agent.exchange([{ type: 'packages', installed: [2_000_000_000] }]);
    expect(await sets()).toMatchObject({ installed: had, available: had });
    expect((await agent.exchange()).messages).toEqual([]);
  });

  it('are requested again after a pause, and not forgotten in it', async () => {
    await agent.exchange([{ type: 'packages', installed: [2_000_000_002] }]);
    const response = { type: 'resynchronize', 'operation-id': await requestedAnew() };
    await agent.exchange([response, { type: 'packages', installed: [2_000_000_002] }]);
    expect((await agent.exchange()).messages).toEqual([]);
    world.clock.advance(SIX_HOURS + 1);
    await requestedAnew();
  });

  it('become known to it once, by however many gateways', async () => {
    const owner = await anAccount(world.db);
    const gateways = [world, await world.another()];
    const agents = await Promise.all(
      Array.from({ length: 6 }, (_, i) => RawAgent.enrol(gateways[i % gateways.length]!, owner)),
    );
    const ids = await Promise.all(agents.map((one, i) => add(one, `known-${i}`)));
    const known = () =>
      world.db.query(
        `select k.xmin::text, k.xmax::text, (select bool_and(k.known @> i) from unnest($2::int[]) i) as reported
         from account_packages k where k.account_id = $1`,
        [owner.id, ids],
      );
    const before = await known();
    expect(before).toMatchObject([{ reported: true }]);
    const late = await RawAgent.enrol(await world.another(), owner);
    for (const i of ids.keys()) expect(await add(late, `known-${i}`)).toBe(ids[i]);
    expect(await known()).toEqual(before);
  });
});
