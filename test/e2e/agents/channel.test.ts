import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode, encode, isDict } from '../../../src/protocol/bpickle.ts';
import type { ActivityBody } from '../../../tools/harness/stack-client.ts';
import { violationsOf, waitUntilDrained } from '../../../tools/harness/stack-invariants.ts';
import { createRandom, type Random } from '../../../tools/simulator/random.ts';
import { base64, script } from '../../support/scripts/scripts.ts';
import { ChannelWorld } from './channel-world.ts';

/**
 * All kinds of work over a faulty network between agents and server, with wrong clocks. When the faults stop, everything
 * must end: one outcome and one execution per operation, and the rows of the server match the computers.
 *
 * - `FLOTILLA_CHANNEL_SEEDS`: comma-separated seeds, `1,2` by default; `11-60` is a range
 * - `FLOTILLA_CHANNEL_SHARE`: the share of requests with a fault, 0.35 by default
 *
 * @see docs/reliability.md#the-network-between-agents-and-server
 */
const SEEDS = seedsOf(process.env['FLOTILLA_CHANNEL_SEEDS'] || '1,2');
const SHARE = Number(process.env['FLOTILLA_CHANNEL_SHARE'] || 0.35);
const COMPUTERS = 25;
const TURNS = 6;
const TIMEOUT_MS = 240_000;
/** What is open when the faults stop can be minutes of work on a slow machine. */
const CONVERGENCE_MS = 120_000;

function seedsOf(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}

interface Group {
  id: number;
  computers: number[];
}

describe('agents behind a faulty network', { timeout: TIMEOUT_MS }, () => {
  let world: ChannelWorld;
  const returned = new Set<string>();

  beforeAll(async () => {
    world = await ChannelWorld.start(COMPUTERS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await world?.end();
  }, 60_000);

  it.each(SEEDS)('seed %d: everything comes to one end', async (seed) => {
    try {
      await run(seed);
    } catch (error) {
      const again = `FLOTILLA_CHANNEL_SEEDS=${seed} FLOTILLA_CHANNEL_SHARE=${SHARE} npx vitest run test/e2e/agents/channel.test.ts`;
      const open = await world.openOperations();
      throw new Error(`seed ${seed} failed, to be repeated with: ${again}; open: ${open}`, { cause: error });
    }
  });

  it('has seen every kind of fault, and a real copy is still noticed', async () => {
    expect(world.channel.faultCounts.size).toBeGreaterThan(SEEDS.length > 2 ? 18 : 10);
    world.channel.injectFaults(SEEDS[0]!, SHARE);
    const [computer] = world.able;
    const id = computer!.computerId!;
    const copy = world.channel.lastSent(({ headers, body }) => headers['x-exchange-token'] !== undefined && isOf(body));
    const payload = decode(copy!.body);
    if (!isDict(payload)) throw new Error('no payload');
    payload['messages'] = [{ type: 'computer-tags', tags: 'copied', api: Buffer.from('3.3'), timestamp: 1 }];
    const reply = await world.channel.forward({ ...copy!, body: encode(payload) });
    await world.channel.stopFaults();
    const response = decode(reply.body);
    const [first] = isDict(response) ? (response['messages'] as { type: string; 'clone-of'?: string }[]) : [];
    expect(first).toMatchObject({ type: 'unknown-id', 'clone-of': expect.any(String) });
    expect(computer!.computerId).toBe(id);
    expect(await world.stack.rows(`select 1 from computer where 'copied' = any(tags)`)).toEqual([]);
  });

  /** Whether the body is an older exchange than the last one. */
  function isOf(body: Buffer): boolean {
    const payload = decode(body);
    return isDict(payload) && Array.isArray(payload['messages']) && payload['messages'].length > 0;
  }

  async function run(seed: number): Promise<void> {
    const random = createRandom(seed, 'workload');
    const { api, channel, fleet, stack } = world;
    channel.injectFaults(seed, SHARE);
    if (fleet.computers.every((computer) => !computer.isEnrolled)) await fleet.start();
    await stack.waitUntil('most computers to be there', () => enrolledOnes().length > COMPUTERS * 0.8, {
      limitMs: CONVERGENCE_MS,
    });
    const before = fleet.computers.map(({ computerId }) => computerId);
    const enrolled = enrolledOnes().filter((computer) => computer !== world.jumping);
    const removed = random.sample(enrolled, 2);
    const leaving = removed.map(({ computerId }) => computerId!);
    for (const { title, options } of removed) {
      returned.add(title);
      // What it runs when it is removed ends after it has enrolled again.
      options.slow = true;
    }
    const groups: Group[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const targets = world.able
        .map(({ computerId }) => computerId)
        .filter((id) => id !== null && !leaving.includes(id));
      groups.push(await act(turn, random, targets as number[]));
      if (turn === 2)
        expect((await api.request('POST', '/computers:delete', { computer_ids: leaving })).status).toBe(204);
      // The next action comes at a random moment.
      await sleep(random.int(100, 900));
    }
    await channel.stopFaults();
    for (const { id } of groups) await api.pollActivity(id, CONVERGENCE_MS);
    for (const { id } of groups) await waitUntilDrained(stack, id, CONVERGENCE_MS);
    await fleet.settled(CONVERGENCE_MS);
    await expectEnd(groups);
    const stayed = before.map((id, i) =>
      id === null || leaving.includes(id) ? null : [id, fleet.computers[i]!.computerId],
    );
    for (const [was, is] of stayed.filter((pair) => pair !== null)) expect(is).toBe(was);
  }

  /** The enrolled computers with snaps. */
  function enrolledOnes() {
    return world.able.filter(({ isEnrolled }) => isEnrolled);
  }

  async function act(turn: number, random: Random, able: readonly number[]): Promise<Group> {
    const { api } = world;
    const computers = random.sample(able, random.int(3, able.length));
    const query = computers.map((id) => `id:${id}`).join(' OR ');
    if (turn === 1) return { id: (await audit(random)).id, computers: [] };
    if (turn === 3) return { id: (await restart(computers[0]!)).id, computers: computers.slice(0, 1) };
    if (turn % 2 === 0) {
      const [action, name] = random.pick([
        ['install', 'hello'],
        ['remove', 'hello'],
        ['refresh', 'snapd'],
        ['hold', 'snapd'],
      ] as const);
      return { id: await api.actOnSnaps(computers, { action, snaps: [{ name }] }), computers };
    }
    const attachments = [{ filename: 'data.txt', content: base64('attached\n') }];
    const made = await api.post<{ id: number }>('/scripts', script({ title: `S ${random.hex(8)}`, attachments }));
    return { id: (await api.post<ActivityBody>(`/scripts/${made.id}:execute`, { query })).id, computers };
  }

  async function audit(random: Random): Promise<ActivityBody> {
    const profile = { title: `A ${random.hex(8)}`, mode: 'audit', benchmark: 'cis_level1_server' };
    const times = { schedule: 'FREQ=WEEKLY', start_date: '2099-01-01T00:00:00Z', all_computers: true };
    const { id } = await world.api.post<{ id: number }>('/usg-profiles', { ...profile, ...times });
    return world.api.post<ActivityBody>(`/usg-profiles/${id}:execute`, {});
  }

  function restart(computer: number): Promise<ActivityBody> {
    return world.api.post<ActivityBody>(`/computers/${computer}/restart`, {});
  }

  async function expectEnd(groups: readonly Group[]): Promise<void> {
    const { channel, fleet, stack } = world;
    const executions = world.executions();
    for (const { id, computers } of groups) {
      // A run keeps the computers that it started with, some of which may have left.
      if (computers.length > 0) expect(await violationsOf(stack, id, computers, executions)).toEqual([]);
    }
    expect([...executions].filter(([, runs]) => runs.length !== 1)).toEqual([]);
    const owners = await stack.rows<{ id: number; computer_id: number }>(
      'select id, computer_id from activity where id = any($1::int[])',
      [[...executions.keys()]],
    );
    expect(owners.filter((row) => executions.get(row.id)![0]!.computerId !== row.computer_id)).toEqual([]);
    expect([...fleet.violations]).toEqual([]);
    expect(channel.errors).toEqual([]);
    expect(await stack.rows('select * from agent_rejected_message')).toEqual([]);
    let left: string[] = [];
    const converged = async () => {
      left = await world.differences(returned);
      return left.length === 0;
    };
    await stack.waitUntil('the server to know all', converged, { limitMs: 30_000 }).catch(() => undefined);
    expect(left).toEqual([]);
  }
});
