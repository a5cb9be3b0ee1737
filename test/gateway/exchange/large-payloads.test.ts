import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BValue, encode } from '../../../src/protocol/bpickle.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { post, RawAgent } from '../../support/agents/raw-agent.ts';
import { aProcess, reportedRows } from '../../support/computers/computers.ts';

const MIB = 1024 * 1024;

let world: GatewayWorld;
let agent: RawAgent;
const { rows, computer } = reportedRows(
  () => world,
  () => agent,
);

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, await anAccount(world.db));
  await agent.exchange();
});

/** Sends pending messages, as agents do, until none is left. */
async function drain(pending: readonly BValue[]): Promise<{ exchanges: number; taken: number[] }> {
  const first = agent.sequence;
  const taken: number[] = [];
  while (agent.sequence - first < pending.length) {
    const before = agent.sequence;
    const { status } = await agent.exchange(pending.slice(before - first));
    expect(status).toBe(200);
    taken.push(agent.sequence - before);
    if (taken.length > pending.length) throw new Error('the agent never gets through');
  }
  return { exchanges: taken.length, taken };
}

const padding = (bytes: number): BValue => ({ type: 'custom-graph', data: Buffer.alloc(bytes, 'i') });
const memory = (size: number): BValue => ({ type: 'computer-info', 'total-memory': size });
const events = async () =>
  (
    await world.db.query<{ message: string }>('select message from event where entity_id = $1 and entity_type = $2', [
      agent.id,
      'Computer',
    ])
  ).map(({ message }) => message);

describe('an agent whose pending messages are larger than a payload may be', () => {
  it('gets through in parts, each message counted once', async () => {
    const pending = Array.from({ length: 90 }, (_, i) => (i % 2 === 0 ? padding(MIB) : memory(i)));
    const { exchanges, taken } = await drain(pending);
    expect(exchanges).toBe(2);
    expect(taken.reduce((sum, count) => sum + count)).toBe(90);
    expect((await computer())['total_memory']).toBe(89);
    expect(await events()).toEqual([]);
    expect((await agent.exchange([memory(7)])).nextExpected).toBe(91);
  });

  it('gets through when a response is lost', async () => {
    const pending = Array.from({ length: 40 }, () => padding(MIB));
    const lost = await agent.send(pending);
    expect(lost.nextExpected).toBeGreaterThan(20);
    const again = await agent.send(pending);
    expect(again.nextExpected).toBe(lost.nextExpected);
    agent.ingest(again);
    await drain(pending.slice(agent.sequence));
    expect((await agent.exchange([memory(5)])).nextExpected).toBe(41);
  });

  it('gets past a message that is too large by itself, and records it in its events', async () => {
    const { taken } = await drain([padding(33 * MIB), memory(3)]);
    expect(taken).toEqual([1, 1]);
    expect((await computer())['total_memory']).toBe(3);
    expect(await events()).toEqual([
      "The computer's message of no known type could not be used: it is larger than the server takes, and is left out",
    ]);
  });

  it('is not misled by messages that look like the end of a payload', async () => {
    const end = 'u22:next-expected-sequencei77;u8:sequencei99;;';
    const { taken } = await drain([padding(20 * MIB), padding(20 * MIB), { type: 'computer-info', hostname: end }]);
    expect(taken).toEqual([1, 2]);
    expect((await computer())['hostname']).toBe(end);
  });

  it('gets through with more values than are taken at once', async () => {
    const messages = Array.from({ length: 100 }, (_, message) => ({
      type: 'active-process-info',
      'update-processes': Array.from({ length: 2000 }, (_p, pid) => aProcess(pid + 1, { name: `at ${message}` })),
    }));
    const { exchanges } = await drain(messages);
    expect(exchanges).toBeGreaterThan(1);
    const [row] = await rows('computer_process', 'count(*)::int as count, min(name) as least', '1');
    expect(row).toEqual({ count: 2000, least: 'at 99' });
  }, 120_000);
});

describe('a payload that is larger than it may be', () => {
  const large = (headers: Record<string, string> = {}) => post(world, agent.payload([padding(33 * MIB)]), headers);

  it('is rejected from anybody but a known computer', async () => {
    expect((await large()).status).toBe(413);
    expect((await large({ 'X-Computer-ID': 'nobody' })).status).toBe(413);
    expect((await large(agent.headers())).status).toBe(200);
  });

  it('is rejected when it is no payload', async () => {
    const bytes = encode(agent.payload([padding(33 * MIB)]));
    for (const broken of [bytes.subarray(0, -1), bytes.subarray(0, -60), Buffer.concat([bytes, Buffer.from(';')])]) {
      expect((await post(world, broken, agent.headers())).status).toBe(400);
    }
    expect((await post(world, Buffer.alloc(33 * MIB), agent.headers())).status).toBe(400);
  });
});
