import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AUDIT_REPORTS,
  listenForWork,
  RESULTS_CHANNEL,
  SMALL_BATCH,
} from '../../../src/persistence/activities/outbox.sql.ts';
import {
  aBatch,
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
} from '../../support/agents/gateway-world.ts';
import { RawAgent, result } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;
let agent: RawAgent;
let account: { id: number; name: string };
let id: number;

beforeAll(async () => {
  world = await createGatewayWorld();
  account = await anAccount(world.db);
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.db.query('delete from agent_inbox');
  agent = await RawAgent.enrol(world, account);
  await agent.exchange();
  id = await anOperation(world.db, agent.id, { messageType: 'usg', fields: { action: 'audit', 'run-id': 'r' } });
  await agent.exchange();
});

const report = () => ({ type: 'usg-audit', 'operation-id': id, 'run-id': 'r', report: Buffer.from('<Benchmark/>') });
const failed = () => result(id, { status: 5 });
const ends = (status: string) => world.db.query('update activity set status = $2 where id = $1', [id, status]);

async function isKept(): Promise<boolean> {
  return (await world.db.query('select from usg_audit_report where activity_id = $1', [id])).length > 0;
}

describe('audit reports and results', () => {
  it('AGENT-reorder: a report after a failure is ignored, whether or not its batch has seen that', async () => {
    await agent.exchange([failed()]);
    await agent.exchange([report()]);
    expect(await isKept()).toBe(false);
    await world.db.query('delete from agent_inbox');
    await ends('failed');
    expect((await agent.exchange([report()])).nextExpected).toBe(3);
    expect(await isKept()).toBe(false);
  });

  it.each([
    ['before', () => [report(), failed()]],
    ['after', () => [failed(), report()]],
  ])('a report %s the failure in one payload is ignored: a failed audit has none', async (_, messages) => {
    await agent.exchange(messages());
    expect(await isKept()).toBe(false);
  });

  it.each([
    ['before the result', () => [[report()], [result(id)]]],
    ['with it', () => [[result(id), report()]]],
    ['after it', () => [[result(id)], [report()]]],
    ['after it and a failure that came later', () => [[result(id)], [failed()], [report()]]],
  ])('a report %s of a successful audit is kept', async (_, exchanges) => {
    for (const messages of exchanges()) await agent.exchange(messages);
    expect(await isKept()).toBe(true);
  });

  it.each([
    ['of a small batch wakes workers', SMALL_BATCH, [[RESULTS_CHANNEL, AUDIT_REPORTS]]],
    ['of a larger batch waits for them', SMALL_BATCH + 1, []],
  ])('a report %s', async (_, size, expected) => {
    await aBatch(world.db, id, size);
    const connection = await world.db.connect();
    const notified: string[][] = [];
    connection.on('notification', ({ channel, payload }) => notified.push([channel, payload!]));
    await listenForWork(connection);
    await agent.exchange([report()]);
    await connection.query('select 1');
    connection.release(true);
    expect(notified).toEqual(expected);
  });

  it('a report after a cancel is kept, as its result would be', async () => {
    await ends('canceled');
    await agent.exchange([report()]);
    expect(await isKept()).toBe(true);
  });
});
