import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentIntervals } from '../../../src/domain/agents/intervals.ts';
import { resetExchangeTokens } from '../../../src/persistence/activities/restore.sql.ts';
import { claimFastSlot, releaseFastAgents } from '../../../src/persistence/agents/intervals.sql.ts';
import { anAccount, anOperation, createGatewayWorld, type GatewayWorld } from '../../support/agents/gateway-world.ts';
import { type ExchangeResponse, ping, RawAgent, result } from '../../support/agents/raw-agent.ts';

/** @see docs/agent-protocol.md#intervals */
const NORMAL = { ping: 30, urgent_exchange: 60, exchange: 900 };
const SLOTS = 3;
const MINUTE_MS = 60_000;

let world: GatewayWorld;
let account: { id: number; name: string };
let agent: RawAgent;

beforeAll(async () => {
  world = await createGatewayWorld({ env: { FLOTILLA_FAST_AGENTS: String(SLOTS) } });
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.db.query('delete from agent_inbox');
  await world.db.query('update agent set fast_at = null');
  account = await anAccount(world.db);
  await prefer(NORMAL);
  agent = await RawAgent.enrol(world, account);
  await agent.exchange();
});

const prefer = (intervals: AgentIntervals | null) =>
  world.db.query('update account set agent_intervals = $2 where id = $1', [
    account.id,
    intervals && JSON.stringify(intervals),
  ]);

/** The values that a response sets, as ping, urgent exchange, exchange; null for none. */
function intervalsIn({ messages }: ExchangeResponse): unknown[] | null {
  const set = messages.filter(({ type }) => type === 'set-intervals');
  expect(set.length).toBeLessThan(2);
  return set.length === 0 ? null : [set[0]!['ping'], set[0]!['urgent-exchange'], set[0]!['exchange']];
}

const exchange = async (of: RawAgent, ...done: number[]) =>
  intervalsIn(await of.exchange(done.map((id) => result(id))));

const end = (id: number, status = 'canceled') =>
  world.db.query('update activity set status = $2 where id = $1', [id, status]);

const FAST = [10, 10, 900];

describe('the intervals of an account', () => {
  it('are sent once to each computer, and again when they change', async () => {
    const newcomer = await RawAgent.enrol(world, account);
    expect(await exchange(newcomer)).toEqual([30, 60, 900]);
    expect(await exchange(newcomer)).toBeNull();
    await prefer({ ping: 20, urgent_exchange: 30, exchange: 600 });
    expect(await exchange(newcomer)).toEqual([20, 30, 600]);
    expect(await exchange(newcomer)).toBeNull();
    expect(await exchange(agent)).toEqual([20, 30, 600]);
  });

  it('are left alone without a preference, before and after', async () => {
    const other = await RawAgent.enrol(world, await anAccount(world.db));
    expect(await exchange(other)).toBeNull();
    const id = await anOperation(world.db, other.id);
    expect(await exchange(other)).toBeNull();
    expect(await exchange(other, id)).toBeNull();
    await prefer(null);
    await anOperation(world.db, agent.id);
    expect(await exchange(agent)).toBeNull();
  });

  it('are sent again with a response that was lost, before the operations in it', async () => {
    const newcomer = await RawAgent.enrol(world, account);
    await newcomer.exchange();
    const id = await anOperation(world.db, newcomer.id);
    const lost = await newcomer.send();
    expect(lost.types).toEqual(['set-intervals', 'install-snaps']);
    const again = await newcomer.exchange();
    expect(again.messages).toEqual(lost.messages);
    expect(await exchange(newcomer, id)).toEqual([30, 60, 900]);
  });

  it('are sent to a copy that becomes a computer of its own', async () => {
    const copy = new RawAgent(world, agent.id, agent.secureId);
    copy.token = randomBytes(16).toString('hex');
    expect((await copy.send()).types).toEqual(['unknown-id', 'accepted-types']);
    const own = await RawAgent.enrol(world, account, { clone_secure_id: agent.secureId });
    expect(own.id).not.toBe(agent.id);
    expect(await exchange(own)).toEqual([30, 60, 900]);
  });

  it('are sent anew after a restore', async () => {
    await world.db.transaction(resetExchangeTokens);
    expect(await exchange(agent)).toEqual([30, 60, 900]);
    expect(await exchange(agent)).toBeNull();
  });
});

describe('a computer with work', () => {
  it('polls fast from its hand-over to its result', async () => {
    const id = await anOperation(world.db, agent.id);
    expect(await ping(world, agent.id)).toEqual({ messages: true });
    const response = await agent.exchange();
    expect(response.types).toEqual(['set-intervals', 'install-snaps']);
    expect(intervalsIn(response)).toEqual(FAST);
    expect(await exchange(agent)).toBeNull();
    const next = await anOperation(world.db, agent.id);
    expect(await exchange(agent, id)).toBeNull();
    expect(await exchange(agent, next)).toEqual([30, 60, 900]);
    expect(await exchange(agent)).toBeNull();
    expect(await ping(world, agent.id)).toEqual({ messages: false });
  });

  it('does not where work is not due, cannot be sent, or the normal values are as short', async () => {
    await anOperation(world.db, agent.id, { deliverAt: new Date(world.clock.now().getTime() + MINUTE_MS) });
    expect(await exchange(agent)).toBeNull();
    await anOperation(world.db, agent.id);
    await world.db.query('update account set disabled = true where id = $1', [account.id]);
    expect(await exchange(agent)).toBeNull();
    await world.db.query('update account set disabled = false where id = $1', [account.id]);
    await prefer({ ping: 10, urgent_exchange: 10, exchange: 300 });
    expect(await exchange(agent)).toEqual([10, 10, 300]);
    expect(await exchange(agent)).toBeNull();
  });

  it('goes on while a chain does', async () => {
    const id = await anOperation(world.db, agent.id);
    const [step] = await world.db.query<{ id: number }>(
      `insert into activity (account_id, lane_id, computer_id, type, summary, status, blocked_by)
       values ($1, 7, $2, 'Test', 'test', 'waiting', $3) returning id`,
      [account.id, agent.id, id],
    );
    expect(await exchange(agent)).toEqual(FAST);
    expect(await exchange(agent, id)).toBeNull();
    await end(id, 'failed');
    await end(step!.id);
    expect(await exchange(agent)).toEqual([30, 60, 900]);
  });

  it('gets its last normal values when the preference is removed, and is then left alone', async () => {
    const id = await anOperation(world.db, agent.id);
    expect(await exchange(agent)).toEqual(FAST);
    await prefer(null);
    expect(await exchange(agent)).toEqual([30, 60, 900]);
    expect(await exchange(agent, id)).toBeNull();
  });

  it('stops after an hour without a result', async () => {
    const id = await anOperation(world.db, agent.id);
    expect(await exchange(agent)).toEqual(FAST);
    await world.db.query(`update activity set status = 'delivered', delivery_time = $2 where id = $1`, [
      id,
      world.clock.now(),
    ]);
    world.clock.advance(59 * MINUTE_MS);
    expect(await exchange(agent)).toBeNull();
    world.clock.advance(2 * MINUTE_MS);
    expect(await exchange(agent)).toEqual([30, 60, 900]);
  });
});

describe('the slots of computers that poll fast', () => {
  it('are never exceeded by two gateways, and go to others when they are free', async () => {
    const second = await world.another();
    const agents = await Promise.all(
      Array.from({ length: 8 }, (_, i) => RawAgent.enrol(i % 2 ? world : second, account)),
    );
    await Promise.all(agents.map((each) => each.exchange()));
    const works = await Promise.all(agents.map(({ id }) => anOperation(world.db, id)));
    const sent = await Promise.all(agents.map((each) => exchange(each)));
    const isFast = sent.map((values) => values !== null);
    expect(isFast.filter(Boolean)).toHaveLength(SLOTS);
    const slow = isFast.indexOf(false);
    const fast = isFast.indexOf(true);
    expect(await exchange(agents[slow]!, works[slow]!)).toBeNull();
    expect(await exchange(agents[fast]!, works[fast]!)).toEqual([30, 60, 900]);
    await anOperation(world.db, agents[slow]!.id);
    expect(await exchange(agents[slow]!)).toEqual(FAST);
  });

  it('are given back when work ends without an exchange, and a ping then fetches the normal values', async () => {
    const id = await anOperation(world.db, agent.id);
    expect(await exchange(agent)).toEqual(FAST);
    await exchange(agent);
    world.clock.advance(2 * MINUTE_MS);
    expect(await releaseFastAgents(world.db, world.clock.now())).toEqual([]);
    await end(id);
    expect(await ping(world, agent.id)).toEqual({ messages: false });
    expect(await releaseFastAgents(world.db, world.clock.now())).toEqual([agent.id]);
    expect(await releaseFastAgents(world.db, world.clock.now())).toEqual([]);
    expect(await ping(world, agent.id)).toEqual({ messages: true });
    expect(await exchange(agent)).toEqual([30, 60, 900]);
    expect(await ping(world, agent.id)).toEqual({ messages: false });
  });

  it('are used or given back after a crash between taking and saving', async () => {
    const now = world.clock.now();
    expect(await claimFastSlot(world.db, agent.id, SLOTS, now)).toEqual(now);
    expect(await claimFastSlot(world.db, agent.id, SLOTS, new Date(now.getTime() + 1))).toEqual(now);
    expect(await exchange(agent)).toBeNull();
    expect(await releaseFastAgents(world.db, new Date(now.getTime() + 2 * MINUTE_MS))).toEqual([]);
    await claimFastSlot(world.db, agent.id, SLOTS, now);
    const id = await anOperation(world.db, agent.id);
    expect(await exchange(agent)).toEqual(FAST);
    expect(await exchange(agent, id)).toEqual([30, 60, 900]);
    await claimFastSlot(world.db, agent.id, SLOTS, now);
    expect(await releaseFastAgents(world.db, new Date(now.getTime() + 2 * MINUTE_MS))).toEqual([agent.id]);
    expect(await ping(world, agent.id)).toEqual({ messages: false });
  });
});
