import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { promoteHeldMessages } from '../../src/persistence/repositories/agent-messages.repository.ts';
import { createLaneStore, type LaneStore } from '../../src/persistence/repositories/lanes.repository.ts';
import type { Database } from '../../src/persistence/sql.ts';
import {
  aChain,
  aGroup,
  aLane,
  anAccount,
  childrenOf,
  messagesOf,
  ONE_LANE,
  TestClock,
  tell,
} from '../support/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
let clock: TestClock;
let store: LaneStore;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());
beforeEach(() => {
  clock = new TestClock();
  store = createLaneStore({ db, clock, settings: { expiryDays: 30 } });
});

const oneLane = (plan?: Parameters<typeof aLane>[2], options?: Parameters<typeof aLane>[3]) =>
  aLane(db, clock, plan, options);
const messages = (group: number) => messagesOf(db, group);

describe('the message backlog of lanes', () => {
  it('holds what is above the bound and lets the oldest up when a queued one is canceled', async () => {
    const plan = { operations: aChain(1).concat(aChain(1), aChain(1)) };
    const { lane, group, ids } = await oneLane(plan, { maxMessageBacklog: 2 });
    await store.advance(lane, false);
    expect(await messages(group)).toEqual(['queued', 'queued', 'held']);
    await tell(db, { lane, activity: ids[0]!, kind: 'cancel', at: clock.now() });
    await store.advance(lane, false);
    expect(await messages(group)).toEqual(['withdrawn', 'queued', 'queued']);
  });

  it('counts the messages of other activities too', async () => {
    const { account, lane } = await oneLane({}, { maxMessageBacklog: 1 });
    await store.advance(lane, false);
    const second = await aGroup(db, account, { settings: ONE_LANE });
    const [child] = await childrenOf(db, second);
    await store.advance(child!.lane_id, false);
    expect(await messages(second)).toEqual(['held']);
    await db.query(`update agent_message set state = 'acked' where lane_id = $1`, [lane]);
    await db.transaction((tx) => promoteHeldMessages(tx, account.computers));
    expect(await messages(second)).toEqual(['queued']);
  });

  it('holds everything at 0', async () => {
    const { account, lane, group } = await oneLane({}, { maxMessageBacklog: 0 });
    await store.advance(lane, false);
    await db.transaction((tx) => promoteHeldMessages(tx, account.computers));
    expect(await messages(group)).toEqual(['held']);
  });

  it('does not make cancels and exchanges of one computer wait for each other', async () => {
    const account = await anAccount(db, { computers: 1, maxMessageBacklog: 1 });
    for (let round = 0; round < 5; round++) {
      const groups = [await aGroup(db, account), await aGroup(db, account), await aGroup(db, account)];
      const lanes = await db.query<{ id: number }>('select id from lane where parent_id = any($1) order by id', [
        groups,
      ]);
      for (const { id } of lanes) await store.advance(id, false);
      const exchange = () => db.transaction((tx) => promoteHeldMessages(tx, account.computers));
      await Promise.all([...lanes.map(({ id }) => store.advance(id, true)), exchange(), exchange()]);
      const states = await Promise.all(groups.map(messages));
      expect(states.flat()).toEqual(['withdrawn', 'withdrawn', 'withdrawn']);
    }
  });

  it('never exceeds the bound when many lanes of one computer open at once', async () => {
    const account = await anAccount(db, { computers: 1, maxMessageBacklog: 3 });
    const groups = await Promise.all(Array.from({ length: 8 }, () => aGroup(db, account, { settings: ONE_LANE })));
    const lanes = await db.query<{ id: number }>('select id from lane where parent_id = any($1)', [groups]);
    await Promise.all(lanes.map(({ id }) => store.advance(id, false)));
    const [row] = await db.query(
      `select count(*) filter (where state = 'queued') as queued, count(*) filter (where state = 'held') as held
       from agent_message where computer_id = $1`,
      [account.computers[0]],
    );
    expect(row).toEqual({ queued: 3, held: 5 });
  });
});
