import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aChain, addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { EngineWorld } from '../../support/activities/engine-world.ts';

let world: EngineWorld;

beforeAll(async () => {
  world = await EngineWorld.create();
});
afterAll(() => world?.close());
beforeEach(() => world.reset());

describe('chains', () => {
  it('releases a step after its delay once the one before succeeded', async () => {
    const { batch, group, ids } = await world.oneBatch({ operations: aChain(2, 600) });
    await world.engine.processPendingEvents(batch, false);
    expect(await world.statuses(group)).toEqual(['undelivered', 'waiting']);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: true, at: world.clock.now() });
    const due = world.clock.now().getTime() + 600_000;
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
      open: 1,
      succeeded: 1,
      nextDueAt: due,
    });
    const [, second] = await childrenOf(world.db, group);
    expect(second).toMatchObject({ status: 'undelivered', message: 'queued', deliver_at: new Date(due) });
    world.clock.advance(600_000);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 1, nextDueAt: null });
  });

  it('cancels every step that depends on a failed one', async () => {
    const { batch, group, ids } = await world.oneBatch({ operations: aChain(3) });
    await world.engine.processPendingEvents(batch, false);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: false, at: world.clock.now() });
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 0, failed: 1, canceled: 2 });
    expect(await world.engine.getGroupProgress(group, false)).toEqual({
      open: 0,
      succeeded: 0,
      failed: 1,
      canceled: 2,
      status: 'failed',
    });
  });

  it('cancels every dependent of one that was canceled while events of its success waited', async () => {
    const { batch, group, ids } = await world.oneBatch({ operations: aChain(3) });
    await world.engine.processPendingEvents(batch, false);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [ids[0]]);
    const event = { batch, activity: ids[0]!, at: world.clock.now() };
    await addEvent(world.db, { ...event, kind: 'delivered' });
    await world.engine.processPendingEvents(batch, false);
    await addEvent(
      world.db,
      { ...event, kind: 'result', ok: true, body: 'done' },
      { ...event, kind: 'cancel', body: 'why' },
    );
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 0, succeeded: 1, canceled: 2 });
    expect((await childrenOf(world.db, group)).map(({ status, result_text }) => [status, result_text])).toEqual([
      ['succeeded', 'done'],
      ['canceled', 'why'],
      ['canceled', 'why'],
    ]);
    expect(await world.messages(group)).toEqual(['sent', null, null]);
  });

  it('keeps the steps of different computers apart', async () => {
    const { batch, group, ids } = await world.oneBatch({ operations: aChain(2) }, { computers: 2 });
    await world.engine.processPendingEvents(batch, false);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: true, at: world.clock.now() });
    await world.engine.processPendingEvents(batch, false);
    expect(await world.statuses(group)).toEqual(['succeeded', 'undelivered', 'undelivered', 'waiting']);
  });
});
