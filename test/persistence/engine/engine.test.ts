import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aChain, addEvent, aGroup, anAccount, childrenOf } from '../../support/activities/activity-rows.ts';
import { EngineWorld } from '../../support/activities/engine-world.ts';
import { dyingAfter, untilBlocked } from '../../support/database/database.ts';

let world: EngineWorld;

beforeAll(async () => {
  world = await EngineWorld.create();
});
afterAll(() => world?.close());
beforeEach(() => world.reset());

describe('opening a batch', () => {
  it('queues every message once, whatever is repeated', async () => {
    const { batch, group } = await world.oneBatch({}, { computers: 3 });
    const first = await world.engine.processPendingEvents(batch, false);
    expect(first).toMatchObject({ open: 3, nextDueAt: null });
    expect(first.waitingFor).toEqual(['web-1', 'web-2', 'web-3']);
    await world.engine.processPendingEvents(batch, false);
    expect(await world.messages(group)).toEqual(['queued', 'queued', 'queued']);
  });

  it('names the computers it waits for in one order, wherever their rows lie', async () => {
    const { batch, ids } = await world.oneBatch({}, { computers: 4 });
    const first = await world.engine.processPendingEvents(batch, false);
    // A change of an indexed column puts the row's new version after the others.
    await world.db.query(`update activity set type = 'MovedRow' where id = $1`, [ids[0]]);
    expect(await world.engine.processPendingEvents(batch, false)).toEqual(first);
  });

  it('queues nothing that was canceled before', async () => {
    const { batch, group } = await world.oneBatch({}, { computers: 2 });
    await addEvent(world.db, { batch, activity: null, kind: 'cancel', at: world.clock.now() });
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
      open: 0,
      canceled: 2,
      wasCanceled: true,
    });
    expect(await world.messages(group)).toEqual([null, null]);
  });

  it('applies also what is reported while it runs', async () => {
    const { batch, group, ids } = await world.oneBatch();
    const event = { batch, activity: ids[0]!, at: world.clock.now() };
    await addEvent(world.db, { ...event, kind: 'delivered' });
    let opening!: Promise<unknown>;
    await world.db.transaction(async (tx) => {
      // The counters of the group move last.
      await tx.query('select from activity where id = $1 for update', [group]);
      opening = world.engine.processPendingEvents(batch, false);
      await untilBlocked(world.db);
      await addEvent(world.db, { ...event, kind: 'result', ok: true });
    });
    expect(await opening).toMatchObject({ open: 0, succeeded: 1 });
  });

  it('expects a report only once its message was fetched, and only before', async () => {
    const { batch, ids } = await world.oneBatch();
    const event = { batch, activity: ids[0]!, at: world.clock.now() };
    const isExpected = async () => (await world.engine.turnOf(batch)).isReportExpected;
    expect(await isExpected()).toBe(false);
    await addEvent(world.db, { ...event, kind: 'delivered' });
    expect(await isExpected()).toBe(true);
    await addEvent(world.db, { ...event, kind: 'result', ok: true });
    expect(await isExpected()).toBe(false);
    await world.engine.processPendingEvents(batch, false);
    await addEvent(world.db, { ...event, kind: 'delivered' });
    expect(await isExpected()).toBe(false);
    expect((await world.engine.turnOf(2_000_000_000)).isReportExpected).toBe(false);
  });

  it('reports a batch without a row as one with nothing open', async () => {
    expect(await world.engine.processPendingEvents(2_000_000_000, false)).toMatchObject({ open: 0, nextDueAt: null });
  });
});

describe('results', () => {
  it('AGENT-reorder: takes the first of two opposite results and ignores every later one', async () => {
    const { batch, group, ids } = await world.oneBatch();
    await world.engine.processPendingEvents(batch, false);
    const result = { batch, activity: ids[0]!, kind: 'result' as const, at: world.clock.now() };
    await addEvent(
      world.db,
      { ...result, ok: true, code: 0, body: 'first' },
      { ...result, ok: false, code: 1, body: 'second' },
    );
    await world.engine.processPendingEvents(batch, false);
    await addEvent(world.db, { ...result, ok: false, body: 'third' });
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 0, succeeded: 1, failed: 0 });
    const [child] = await childrenOf(world.db, group);
    expect(child).toMatchObject({ status: 'succeeded', result_text: 'first', result_code: 0 });
  });

  it('AGENT-reorder: counts a result without a delivery as delivered too', async () => {
    const { batch, group, ids } = await world.oneBatch();
    await world.engine.processPendingEvents(batch, false);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: true, at: world.clock.now() });
    await world.engine.processPendingEvents(batch, false);
    expect((await childrenOf(world.db, group))[0]).toMatchObject({
      delivery_time: world.clock.now(),
      completion_time: world.clock.now(),
    });
  });

  it('of groups have the time of the first delivery, however late and in what order batches are processed', async () => {
    const account = await anAccount(world.db, { computers: 3 });
    const group = await aGroup(world.db, account, { now: world.clock.now() });
    const children = await childrenOf(world.db, group);
    for (const { lane_id } of children) await world.engine.processPendingEvents(lane_id, false);
    const parent = async () =>
      (await world.db.query('select delivery_time, completion_time from activity where id = $1', [group]))[0];
    const at = (minutes: number) => new Date(world.clock.now().getTime() + minutes * 60_000);
    const moments = children.map((_, index) => at(3 - index));
    world.clock.advance(3_600_000);
    for (const [index, { lane_id, id }] of children.entries()) {
      const event = { batch: lane_id, activity: id, at: moments[index]! };
      await addEvent(world.db, { ...event, kind: 'delivered' }, { ...event, kind: 'result', ok: true });
      await world.engine.processPendingEvents(lane_id, false);
      expect((await parent())!['delivery_time']).toEqual(moments[index]);
    }
    expect(await parent()).toEqual({ delivery_time: moments[2], completion_time: moments[0] });
  });

  it('of groups have no delivery when one loses its computer before', async () => {
    const account = await anAccount(world.db, { computers: 2 });
    const group = await aGroup(world.db, account, { now: world.clock.now() });
    const [gone, other] = await childrenOf(world.db, group);
    await world.engine.processPendingEvents(gone!.lane_id, false);
    const at = world.clock.now();
    world.clock.advance(3_600_000);
    const parent = () => world.db.query('select status, delivery_time from activity where id = $1', [group]);
    await addEvent(world.db, { batch: gone!.lane_id, activity: gone!.id, kind: 'gone', at });
    await world.engine.processPendingEvents(gone!.lane_id, false);
    expect(await parent()).toEqual([{ status: 'undelivered', delivery_time: null }]);
    await addEvent(world.db, { batch: other!.lane_id, activity: other!.id, kind: 'delivered', at: world.clock.now() });
    await world.engine.processPendingEvents(other!.lane_id, false);
    expect(await parent()).toEqual([{ status: 'delivered', delivery_time: world.clock.now() }]);
  });

  it('of groups have a delivery, though it had been canceled by then', async () => {
    const account = await anAccount(world.db, { computers: 2 });
    const group = await aGroup(world.db, account, { now: world.clock.now() });
    const [first] = await childrenOf(world.db, group);
    const { lane_id: batch, id: activity } = first!;
    await world.engine.processPendingEvents(batch, false);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [activity]);
    await addEvent(world.db, { batch, activity, kind: 'cancel', at: world.clock.now() });
    await world.engine.processPendingEvents(batch, false);
    const parent = () => world.db.query('select status, delivery_time from activity where id = $1', [group]);
    expect(await parent()).toEqual([{ status: 'undelivered', delivery_time: null }]);
    const at = world.clock.now();
    await addEvent(world.db, { batch, activity, kind: 'delivered', at });
    await world.engine.processPendingEvents(batch, false);
    expect(await parent()).toEqual([{ status: 'delivered', delivery_time: at }]);
  });

  it.each([
    ['succeeded', 'canceled', 'canceled'],
    ['canceled', 'failed', 'failed'],
    ['succeeded', 'expired', 'failed'],
    ['succeeded', 'gone', 'failed'],
    ['canceled', 'canceled', 'canceled'],
    ['succeeded', 'succeeded', 'succeeded'],
  ])('of a group of one that %s and one that %s read %s', async (one, other, status) => {
    const account = await anAccount(world.db, { computers: 2 });
    const group = await aGroup(world.db, account, { now: world.clock.now() });
    const children = await childrenOf(world.db, group);
    for (const [index, end] of [one, other].entries()) {
      const { lane_id: batch, id: activity } = children[index]!;
      const event = { batch, activity, at: world.clock.now() };
      await world.engine.processPendingEvents(batch, false);
      if (end === 'canceled') await addEvent(world.db, { ...event, kind: 'cancel' });
      else if (end === 'gone') await addEvent(world.db, { ...event, kind: 'gone' });
      else if (end === 'expired') {
        await addEvent(world.db, { ...event, kind: 'delivered' });
        await world.engine.processPendingEvents(batch, false);
        world.clock.advance(31 * 86_400_000);
      } else await addEvent(world.db, { ...event, kind: 'result', ok: end === 'succeeded' });
      await world.engine.processPendingEvents(batch, false);
    }
    expect(await world.engine.getGroupProgress(group, false)).toMatchObject({ open: 0, status });
  });

  it('AGENT-reorder: lets a late result replace canceled once and recomputes the parent', async () => {
    const { batch, group, ids } = await world.oneBatch();
    await world.engine.processPendingEvents(batch, false);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [ids[0]]);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'delivered', at: world.clock.now() });
    await world.engine.processPendingEvents(batch, true);
    expect(await world.engine.getGroupProgress(group, false)).toMatchObject({ open: 0, status: 'canceled' });
    world.clock.advance(5000);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: true, at: world.clock.now() });
    await world.engine.processPendingEvents(batch, false);
    expect(await world.engine.getGroupProgress(group, false)).toMatchObject({
      open: 0,
      succeeded: 1,
      canceled: 0,
      status: 'succeeded',
    });
    const [parent] = await world.db.query('select completion_time from activity where id = $1', [group]);
    expect(parent).toEqual({ completion_time: world.clock.now() });
    expect((await childrenOf(world.db, group))[0]).toMatchObject({ message: 'sent' });
  });

  it('ignores operations of another batch', async () => {
    const one = await world.oneBatch();
    const other = await world.oneBatch();
    await world.engine.processPendingEvents(one.batch, false);
    await addEvent(world.db, {
      batch: one.batch,
      activity: other.ids[0]!,
      kind: 'result',
      ok: true,
      at: world.clock.now(),
    });
    await world.engine.processPendingEvents(one.batch, false);
    expect(await world.statuses(other.group)).toEqual(['undelivered']);
  });

  it('processes 5,000 events per call and requests another call for the rest', async () => {
    const { batch, ids } = await world.oneBatch();
    await world.engine.processPendingEvents(batch, false);
    await world.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind) select $1, $2, 'delivered' from generate_series(1, 5001)`,
      [batch, ids[0]],
    );
    expect((await world.engine.processPendingEvents(batch, false)).nextDueAt).toBe(world.clock.now().getTime());
    expect((await world.engine.processPendingEvents(batch, false)).nextDueAt).not.toBe(world.clock.now().getTime());
    expect(await world.db.query('select from agent_inbox where lane_id = $1', [batch])).toEqual([]);
  });

  it('lets no cancel wait for other events, which releases what it covers', async () => {
    const { batch, group, ids } = await world.oneBatch({ operations: aChain(2) });
    await world.engine.processPendingEvents(batch, false);
    const [first, second] = ids;
    await addEvent(world.db, { batch, activity: first!, kind: 'result', ok: true, at: world.clock.now() });
    await world.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind) select $1, $2, 'delivered' from generate_series(1, 5000)`,
      [batch, first],
    );
    await addEvent(world.db, { batch, activity: second!, kind: 'cancel', at: world.clock.now() });
    const progress = await world.engine.processPendingEvents(batch, false);
    expect(progress).toMatchObject({ open: 0, succeeded: 1, canceled: 1, nextDueAt: world.clock.now().getTime() });
    expect(await world.messages(group)).toEqual(['queued', null]);
    const left = await world.db.query('select kind from agent_inbox where lane_id = $1', [batch]);
    expect(left).toEqual([{ kind: 'delivered' }]);
  });
});

describe('a crash', () => {
  it('between any two statements changes nothing, and the next call does all of it once', async () => {
    let survived = false;
    for (let statements = 0; !survived; statements++) {
      const { batch, group, ids } = await world.oneBatch(
        { operations: aChain(2) },
        { computers: 3, maxMessageBacklog: 5 },
      );
      await world.engine.processPendingEvents(batch, false);
      await addEvent(
        world.db,
        { batch, activity: ids[0]!, kind: 'result', ok: true, at: world.clock.now() },
        { batch, activity: ids[2]!, kind: 'result', ok: false, at: world.clock.now() },
        { batch, activity: ids[4]!, kind: 'cancel', at: world.clock.now() },
      );
      const before = await childrenOf(world.db, group);
      const dying = world.engineWith(30, {
        genericPlanDb: dyingAfter(world.persistence.genericPlanDb, statements),
      });
      survived = await dying.processPendingEvents(batch, false).then(
        () => true,
        () => false,
      );
      if (!survived) expect(await childrenOf(world.db, group)).toEqual(before);
      expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
        open: 1,
        succeeded: 1,
        failed: 1,
        canceled: 3,
      });
      expect(await world.messages(group)).toEqual(['queued', 'queued', 'queued', null, 'withdrawn', null]);
      expect(statements).toBeLessThan(30);
    }
  });
});
