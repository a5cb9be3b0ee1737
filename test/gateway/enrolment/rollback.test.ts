import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  anAccount,
  anOperation,
  createGatewayWorld,
  type GatewayWorld,
  inbox,
  messageStates,
} from '../../support/agents/gateway-world.ts';
import { type ExchangeResponse, post, RawAgent, result } from '../../support/agents/raw-agent.ts';

let world: GatewayWorld;
let agent: RawAgent;

beforeAll(async () => {
  world = await createGatewayWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  agent = await RawAgent.enrol(world, await anAccount(world.db));
  await agent.exchange();
});

const change = (id: number) => ({ messageType: 'change-packages', fields: { install: [id], policy: 0 } });
const idsOf = (response: ExchangeResponse) => response.messages.map((message) => message['operation-id']);

/** @see docs/reliability.md#bad-input */
describe('UPDATE-rollback: older commands', () => {
  it('are not handed out again to whoever sends older payloads again, with a token or without', async () => {
    const seen: { payload: Parameters<typeof post>[1]; headers: Record<string, string> }[] = [];
    const exchange = async (messages: Parameters<RawAgent['exchange']>[0] = []) => {
      seen.push({ payload: agent.payload(messages), headers: agent.headers() });
      return agent.exchange(messages);
    };
    const older = await anOperation(world.db, agent.id, change(1));
    expect(idsOf(await exchange())).toEqual([older]);
    const newer = await anOperation(world.db, agent.id, change(2));
    expect(idsOf(await exchange([result(older)]))).toEqual([newer]);
    await exchange([result(newer)]);
    const last = await anOperation(world.db, agent.id, change(3));
    for (const { payload, headers } of seen) {
      for (const token of [headers, { 'X-Computer-ID': agent.secureId }]) {
        const response = await post(world, payload, token);
        expect(idsOf(response).filter((id) => id === older || id === newer)).toEqual([]);
      }
    }
    expect(idsOf(await exchange())).toEqual([last]);
    await exchange([result(last)]);
    expect(await messageStates(world.db, [older, newer, last])).toEqual(['acked', 'acked', 'acked']);
  });

  it('keep their order: a newer one never comes before an older one', async () => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await anOperation(world.db, agent.id, change(i)));
    await agent.send();
    ids.push(await anOperation(world.db, agent.id, change(3)));
    expect(idsOf(await agent.exchange())).toEqual(ids);
  });

  it('are not sent once their time is over, however long the agent was offline', async () => {
    const deliverBefore = new Date(world.clock.now().getTime() + 60_000);
    const expired = await anOperation(world.db, agent.id, { ...change(1), deliverBefore });
    const lasting = await anOperation(world.db, agent.id, change(2));
    world.clock.advance(61_000);
    expect(idsOf(await agent.exchange())).toEqual([lasting]);
    expect(await messageStates(world.db, [expired])).toEqual(['queued']);
  });

  it.each(['failed', 'canceled', 'succeeded'])('are not sent again once %s, and keep their place', async (status) => {
    const [ended, open] = [
      await anOperation(world.db, agent.id, change(1)),
      await anOperation(world.db, agent.id, change(2)),
    ];
    expect(idsOf(await agent.send())).toEqual([ended, open]);
    await world.db.query('update activity set status = $2 where id = $1', [ended, status]);
    const again = await agent.exchange();
    expect(again.messages[0]).toEqual({ type: 'no-operation' });
    expect(idsOf(again)).toEqual([undefined, open]);
    expect((await agent.exchange()).messages).toEqual([]);
    expect(await messageStates(world.db, [ended, open])).toEqual(['acked', 'acked']);
    const pendingEvents = (await inbox(world.db)).filter((row) => row.activity_id === ended);
    expect(pendingEvents.map(({ kind }) => kind)).toEqual(['delivered']);
  });

  it('are not sent again to an agent that forgot its counter and has the result', async () => {
    const id = await anOperation(world.db, agent.id, change(1));
    expect(idsOf(await agent.send())).toEqual([id]);
    expect((await agent.exchange([result(id)])).messages).toEqual([{ type: 'no-operation' }]);
    expect((await agent.exchange()).messages).toEqual([]);
    const pendingEvents = (await inbox(world.db)).filter((row) => row.activity_id === id);
    expect(pendingEvents.filter(({ kind }) => kind === 'result')).toHaveLength(1);
  });

  it('are not sent again once they have ended when the last payload is repeated with its token', async () => {
    const ended = await anOperation(world.db, agent.id, change(1));
    const { payload, headers } = { payload: agent.payload(), headers: agent.headers() };
    expect(idsOf(await post(world, payload, headers))).toEqual([ended]);
    await world.db.query(`update activity set status = 'failed' where id = $1`, [ended]);
    const again = await post(world, payload, headers);
    expect(again.messages).toEqual([{ type: 'no-operation' }]);
    agent.ingest(again);
    expect((await agent.exchange()).messages).toEqual([]);
    expect(await messageStates(world.db, [ended])).toEqual(['acked']);
  });

  it('are not sent once withdrawn, though payloads from before come again', async () => {
    const withdrawn = await anOperation(world.db, agent.id, change(1));
    const before = { payload: agent.payload(), headers: agent.headers() };
    await world.db.query(`update agent_message set state = 'withdrawn' where activity_id = $1`, [withdrawn]);
    expect(idsOf(await agent.exchange())).toEqual([]);
    expect(idsOf(await post(world, before.payload, before.headers))).toEqual([]);
  });
});
