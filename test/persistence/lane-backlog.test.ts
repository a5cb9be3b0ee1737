import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { promoteHeldMessages } from '../../src/persistence/repositories/agent-messages.repository.ts';
import { aChain, aGroup, anAccount, childrenOf, ONE_LANE, tell } from '../support/activity-rows.ts';
import { LaneWorld } from '../support/lane-world.ts';

let world: LaneWorld;

beforeAll(async () => {
  world = await LaneWorld.create();
});
afterAll(() => world?.close());
beforeEach(() => world.begin());

describe('the message backlog of lanes', () => {
  it('holds what is above the bound and lets the oldest up when a queued one is canceled', async () => {
    const plan = { operations: aChain(1).concat(aChain(1), aChain(1)) };
    const { lane, group, ids } = await world.oneLane(plan, { maxMessageBacklog: 2 });
    await world.store.advance(lane, false);
    expect(await world.messages(group)).toEqual(['queued', 'queued', 'held']);
    await tell(world.db, { lane, activity: ids[0]!, kind: 'cancel', at: world.clock.now() });
    await world.store.advance(lane, false);
    expect(await world.messages(group)).toEqual(['withdrawn', 'queued', 'queued']);
  });

  it('counts the messages of other activities too', async () => {
    const { account, lane } = await world.oneLane({}, { maxMessageBacklog: 1 });
    await world.store.advance(lane, false);
    const second = await aGroup(world.db, account, { now: world.clock.now(), settings: ONE_LANE });
    const [child] = await childrenOf(world.db, second);
    await world.store.advance(child!.lane_id, false);
    expect(await world.messages(second)).toEqual(['held']);
    await world.db.query(`update agent_message set state = 'acked' where lane_id = $1`, [lane]);
    await world.db.transaction((tx) => promoteHeldMessages(tx, account.computers, world.clock.now()));
    expect(await world.messages(second)).toEqual(['queued']);
  });

  it('holds everything at 0', async () => {
    const { account, lane, group } = await world.oneLane({}, { maxMessageBacklog: 0 });
    await world.store.advance(lane, false);
    await world.db.transaction((tx) => promoteHeldMessages(tx, account.computers, world.clock.now()));
    expect(await world.messages(group)).toEqual(['held']);
  });

  it('gives places to what is due alone, and lets up what becomes due by itself', async () => {
    const HOUR_MS = 3_600_000;
    const now = world.clock.now();
    const later = { operations: [...aChain(1), ...aChain(1)], deliverAfter: new Date(now.getTime() + HOUR_MS) };
    const scheduled = await world.oneLane(later, { maxMessageBacklog: 1 });
    const opened = await world.store.advance(scheduled.lane, false);
    expect(opened.nextDueAt).toBe(now.getTime() + HOUR_MS);
    const group = await aGroup(world.db, scheduled.account, { now, settings: ONE_LANE });
    const [child] = await childrenOf(world.db, group);
    await world.store.advance(child!.lane_id, false);
    expect(await world.messages(scheduled.group)).toEqual(['held', 'held']);
    expect(await world.messages(group)).toEqual(['queued']);
    await world.store.advance(child!.lane_id, true);
    expect(await world.messages(scheduled.group)).toEqual(['held', 'held']);
    world.clock.advance(HOUR_MS);
    await world.store.advance(scheduled.lane, false);
    expect(await world.messages(scheduled.group)).toEqual(['queued', 'held']);
  });

  it('lets the delayed step of a chain up at its moment', async () => {
    const { lane, group, ids } = await world.oneLane({ operations: aChain(2, 600) }, { maxMessageBacklog: 1 });
    await world.store.advance(lane, false);
    await world.db.query(`update agent_message set state = 'acked' where activity_id = $1`, [ids[0]]);
    await tell(world.db, { lane, activity: ids[0]!, kind: 'result', ok: true, at: world.clock.now() });
    await world.store.advance(lane, false);
    expect(await world.messages(group)).toEqual(['acked', 'held']);
    world.clock.advance(600_000);
    await world.store.advance(lane, false);
    expect(await world.messages(group)).toEqual(['acked', 'queued']);
  });

  it('does not make cancels and exchanges of one computer wait for each other', async () => {
    const account = await anAccount(world.db, { computers: 1, maxMessageBacklog: 1 });
    for (let round = 0; round < 5; round++) {
      const groups: number[] = [];
      for (let i = 0; i < 3; i++) groups.push(await aGroup(world.db, account, { now: world.clock.now() }));
      const lanes = await world.db.query<{ id: number }>('select id from lane where parent_id = any($1) order by id', [
        groups,
      ]);
      for (const { id } of lanes) await world.store.advance(id, false);
      const exchange = () =>
        world.db.transaction((tx) => promoteHeldMessages(tx, account.computers, world.clock.now()));
      await Promise.all([...lanes.map(({ id }) => world.store.advance(id, true)), exchange(), exchange()]);
      const states = await Promise.all(groups.map((group) => world.messages(group)));
      expect(states.flat()).toEqual(['withdrawn', 'withdrawn', 'withdrawn']);
    }
  });

  it('never exceeds the bound when many lanes of one computer open at once', async () => {
    const account = await anAccount(world.db, { computers: 1, maxMessageBacklog: 3 });
    const groups = await Promise.all(
      Array.from({ length: 8 }, () => aGroup(world.db, account, { now: world.clock.now(), settings: ONE_LANE })),
    );
    const lanes = await world.db.query<{ id: number }>('select id from lane where parent_id = any($1)', [groups]);
    await Promise.all(lanes.map(({ id }) => world.store.advance(id, false)));
    const [row] = await world.db.query(
      `select count(*) filter (where state = 'queued') as queued, count(*) filter (where state = 'held') as held
       from agent_message where computer_id = $1`,
      [account.computers[0]],
    );
    expect(row).toEqual({ queued: 3, held: 5 });
  });
});
