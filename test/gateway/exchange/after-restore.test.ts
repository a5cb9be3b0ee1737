import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  endUncertainOperations,
  resetExchangeTokens,
  UNKNOWN_OUTCOME,
} from '../../../src/persistence/activities/restore.sql.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { aGroup, childrenOf } from '../../support/activities/activity-rows.ts';
import { anAccount, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { type ExchangeResponse, RawAgent, result } from '../../support/agents/raw-agent.ts';
import { takeBackup } from '../../support/database/database.ts';

/** Agents that are ahead of a restored database. @see docs/reliability.md#an-older-backup-is-restored */
let world: GatewayWorld;
let engine: Engine;
let account: { id: number; name: string };
let agent: RawAgent;

beforeAll(async () => {
  world = await createGatewayWorld();
  engine = createEngine({ db: world.db, genericPlanDb: world.db, clock: world.clock, settings: { expiryDays: 30 } });
  account = await anAccount(world.db);
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, account);
  await agent.exchange();
});

/** Creates an operation for the agent's computer. */
async function createOperation() {
  const target = { accountId: account.id, groupId: 0, computers: [agent.id] };
  const group = await aGroup(world.db, target, { now: world.clock.now() });
  const read = async () => (await childrenOf(world.db, group))[0]!;
  const { id, lane_id: batch } = await read();
  return { id, processEvents: () => engine.processPendingEvents(batch, false), read };
}

/** The operations of a response. */
const operationsIn = ({ messages }: ExchangeResponse) =>
  messages.filter((message) => message['operation-id'] !== undefined).map((message) => message['operation-id']);

async function repair(): Promise<void> {
  await world.db.transaction(async (tx) => {
    await resetExchangeTokens(tx);
    await endUncertainOperations(tx, world.clock.now());
  });
}

describe('an agent that got an operation in the time that was lost', () => {
  it.each([
    ['was queued at the backup', true],
    ['had no message yet at the backup', false],
  ])('does not get it again, and its result replaces the end, where it %s', async (_, queuedBefore) => {
    const operation = await createOperation();
    if (queuedBefore) await operation.processEvents();
    const restore = await takeBackup(world.db);
    await operation.processEvents();
    expect(operationsIn(await agent.exchange())).toEqual([operation.id]);
    await restore();

    await repair();
    await operation.processEvents();
    expect(await operation.read()).toMatchObject({ status: 'canceled', result_text: UNKNOWN_OUTCOME });
    expect(operationsIn(await agent.exchange())).toEqual([]);
    expect(operationsIn(await agent.exchange([result(operation.id)]))).toEqual([]);
    await operation.processEvents();
    expect(await operation.read()).toMatchObject({ status: 'succeeded', result_text: 'done' });
  });
});

describe('the queue of a computer after a restore', () => {
  it('has room for what may have been given, and keeps what is due later', async () => {
    const bounded = await anAccount(world.db, { maxBacklog: 1 });
    const patient = await RawAgent.enrol(world, bounded);
    const target = { accountId: bounded.id, groupId: 0, computers: [patient.id] };
    const now = world.clock.now();
    const uncertain = await aGroup(world.db, target, { now });
    const later = await aGroup(world.db, target, { now, deliverAfter: new Date(now.getTime() + 3_600_000) });
    const [first, second] = [await childrenOf(world.db, uncertain), await childrenOf(world.db, later)];
    await engine.processPendingEvents(first[0]!.lane_id, false);
    await engine.processPendingEvents(second[0]!.lane_id, false);
    await repair();
    await engine.processPendingEvents(first[0]!.lane_id, false);
    expect(await childrenOf(world.db, uncertain)).toMatchObject([{ status: 'canceled', message: 'acked' }]);
    expect(await childrenOf(world.db, later)).toMatchObject([{ status: 'undelivered', message: 'queued' }]);
    await patient.exchange();
    expect(operationsIn(await patient.exchange())).toEqual([]);
    world.clock.advance(3_600_000);
    expect(operationsIn(await patient.exchange())).toEqual([second[0]!.id]);
  });
});
