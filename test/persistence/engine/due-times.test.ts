import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { EngineWorld } from '../../support/activities/engine-world.ts';

const DAY_MS = 86_400_000;

let world: EngineWorld;

beforeAll(async () => {
  world = await EngineWorld.create();
});
afterAll(() => world?.close());
beforeEach(() => world.reset());

describe('moments', () => {
  it('wakes a batch for the first and the last delivery of a random window only', async () => {
    const { batch } = await world.oneBatch({ windowMinutes: 60 }, { computers: 200 });
    const moments = await world.db.query<{ deliver_at: Date }>(
      'select deliver_at from activity where lane_id = $1 order by deliver_at',
      [batch],
    );
    const wakes: number[] = [];
    for (
      let due = (await world.engine.processPendingEvents(batch, false)).nextDueAt;
      due !== null && wakes.length < 10;
    ) {
      wakes.push(due);
      world.clock.advance(due - world.clock.now().getTime());
      due = (await world.engine.processPendingEvents(batch, false)).nextDueAt;
    }
    expect(wakes).toHaveLength(2);
    expect(wakes[0]! - moments[0]!.deliver_at.getTime()).toBeLessThanOrEqual(1);
    expect(wakes[1]! - moments[199]!.deliver_at.getTime()).toBeLessThanOrEqual(1);
  });

  it('fails what has no result in time after delivery', async () => {
    const { batch, group, ids } = await world.oneBatch();
    await world.engine.processPendingEvents(batch, false);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'delivered', at: world.clock.now() });
    const due = world.clock.now().getTime() + 30 * DAY_MS;
    expect((await world.engine.processPendingEvents(batch, false)).nextDueAt).toBe(due);
    world.clock.advance(30 * DAY_MS);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
      open: 0,
      failed: 1,
      nextDueAt: null,
    });
    expect((await childrenOf(world.db, group))[0]!.result_text).toBe(
      'The computer did not answer within 30 days of delivery.',
    );
  });

  it('gathers expiries that are close together', async () => {
    const { batch, ids } = await world.oneBatch({}, { computers: 30 });
    await world.engine.processPendingEvents(batch, false);
    for (const activity of ids) {
      await addEvent(world.db, { batch, activity, kind: 'delivered', at: world.clock.now() });
      await world.engine.processPendingEvents(batch, false);
      world.clock.advance(60_000);
    }
    let progress = await world.engine.processPendingEvents(batch, false);
    let calls = 0;
    for (; progress.open > 0 && calls < 30; calls++) {
      world.clock.advance(progress.nextDueAt! - world.clock.now().getTime());
      progress = await world.engine.processPendingEvents(batch, false);
    }
    expect(progress).toMatchObject({ open: 0, failed: 30 });
    expect(calls).toBe(2);
  });

  it('fails what was not fetched before its last moment, and leaves what an agent has', async () => {
    const { batch, group, ids } = await world.oneBatch({}, { computers: 2 });
    const deadline = new Date(world.clock.now().getTime() + 60_000);
    await world.db.query('update activity set deliver_before_time = $2 where lane_id = $1', [batch, deadline]);
    expect((await world.engine.processPendingEvents(batch, false)).nextDueAt).toBe(deadline.getTime());
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [ids[1]]);
    world.clock.advance(60_000);
    const progress = await world.engine.processPendingEvents(batch, false);
    expect(progress).toMatchObject({ open: 1, failed: 1 });
    expect(progress.nextDueAt).toBeGreaterThan(world.clock.now().getTime());
    expect(await world.messages(group)).toEqual(['withdrawn', 'sent']);
  });
});
