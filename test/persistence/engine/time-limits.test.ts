import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_RESULT } from '../../../src/domain/scripts/result.ts';
import { scriptOperation } from '../../../src/domain/scripts/script.ts';
import { EVENTS_LIMIT } from '../../../src/persistence/engine/pending-events.sql.ts';
import { aChain, addEvent, aGroup, anAccount, childrenOf } from '../../support/activities/activity-rows.ts';
import { EngineWorld } from '../../support/activities/engine-world.ts';

const SECOND_MS = 1000;
const LIMIT = 60;
/** Time limit and ten minutes. */
const TIME_LIMIT_MS = (LIMIT + 600) * SECOND_MS;

let world: EngineWorld;

beforeAll(async () => {
  world = await EngineWorld.create();
});
afterAll(() => world?.close());
beforeEach(() => world.reset());

const body = { id: 1, version: 1, title: 'Say hello', interpreter: '/bin/sh', code: 'echo hello', attachments: [] };
const run = (timeLimit = LIMIT) => scriptOperation(body, { username: 'root', timeLimit, env: {} });

async function delivered(operations: Parameters<typeof aGroup>[2], computers = 1) {
  const { group, batch, ids } = await world.oneBatch(operations, { computers });
  await world.engine.processPendingEvents(batch, false);
  const at = world.clock.now();
  for (const { id, message } of await childrenOf(world.db, group)) {
    if (message !== null) await addEvent(world.db, { batch, activity: id, kind: 'delivered', at });
  }
  return { group, batch, ids, at, first: await world.engine.processPendingEvents(batch, false) };
}

describe('an operation with a time limit for its result', () => {
  it('fails ten minutes after its time limit, not before, and gives the reason', async () => {
    const { group, batch, at, first } = await delivered({ operations: [run()] }, 3);
    expect(first.nextDueAt).toBe(at.getTime() + TIME_LIMIT_MS);
    world.clock.advance(TIME_LIMIT_MS - SECOND_MS);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 3, failed: 0 });
    world.clock.advance(SECOND_MS);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
      open: 0,
      failed: 3,
      nextDueAt: null,
    });
    for (const child of await childrenOf(world.db, group)) {
      expect(child).toMatchObject({ status: 'failed', result_text: NO_RESULT, result_code: null });
    }
  });

  it('is not ended by what came in time, and keeps what came first', async () => {
    const { group, batch, ids, at } = await delivered({ operations: [run()] }, 2);
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: true, body: 'hello\n', at });
    world.clock.advance(TIME_LIMIT_MS);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 0, succeeded: 1, failed: 1 });
    await addEvent(world.db, {
      batch,
      activity: ids[1]!,
      kind: 'result',
      ok: true,
      body: 'late\n',
      at: world.clock.now(),
    });
    await world.engine.processPendingEvents(batch, false);
    expect((await childrenOf(world.db, group)).map(({ result_text }) => result_text)).toEqual(['hello\n', NO_RESULT]);
  });

  it('is not ended while its result waits after other pending events', async () => {
    const { group, batch, ids, at } = await delivered({ operations: [run()] }, 2);
    await world.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, at)
       select $1, $2, 'delivered', $3 from generate_series(1, ${EVENTS_LIMIT})`,
      [batch, ids[1], at],
    );
    await addEvent(world.db, { batch, activity: ids[0]!, kind: 'result', ok: true, body: 'hello\n', at });
    world.clock.advance(TIME_LIMIT_MS);
    expect((await world.engine.processPendingEvents(batch, false)).nextDueAt).toBe(world.clock.now().getTime());
    await world.engine.processPendingEvents(batch, false);
    expect((await childrenOf(world.db, group)).map(({ result_text }) => result_text)).toEqual(['hello\n', NO_RESULT]);
  });

  it.each<[string, number, Parameters<typeof aGroup>[2], number]>([
    ['after its time limit', 30, { operations: [run()] }, TIME_LIMIT_MS],
    ['after the usual days', 0.001, {}, 86_400],
  ])('expires %s by the clock that decides, however slow the other is', async (_, days, plan, waits) => {
    world.engine = world.engineWith(days);
    const { group, batch, ids } = await world.oneBatch(plan, { computers: 2 });
    await world.engine.processPendingEvents(batch, false);
    const now = world.clock.now().getTime();
    const at = new Date(now - 3600 * SECOND_MS);
    for (const activity of ids) await addEvent(world.db, { batch, activity, kind: 'delivered', at });
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 2, nextDueAt: now + waits });
    world.clock.advance(waits - SECOND_MS);
    await addEvent(world.db, {
      batch,
      activity: ids[0]!,
      kind: 'result',
      ok: true,
      at: new Date(at.getTime() + SECOND_MS),
    });
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
      open: 1,
      succeeded: 1,
      nextDueAt: now + waits,
    });
    expect((await childrenOf(world.db, group)).map(({ status }) => status)).toEqual(['succeeded', 'delivered']);
    world.clock.advance(SECOND_MS);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 0, succeeded: 1, failed: 1 });
  });

  it('waits without an end for its delivery', async () => {
    const account = await anAccount(world.db);
    const group = await aGroup(world.db, account, { now: world.clock.now(), operations: [run()] });
    const [child] = await childrenOf(world.db, group);
    expect((await world.engine.processPendingEvents(child!.lane_id, false)).nextDueAt).toBeNull();
    world.clock.advance(40 * 86_400 * SECOND_MS);
    expect(await world.engine.processPendingEvents(child!.lane_id, false)).toMatchObject({ open: 1, nextDueAt: null });
  });

  it('leaves others of its batch their own time', async () => {
    const [install] = aChain(1);
    const operations = [run(), { ...run(3600), summary: 'longer' }, { ...install!, after: null }];
    const { group, batch } = await delivered({ operations });
    world.clock.advance(TIME_LIMIT_MS);
    const soon = await world.engine.processPendingEvents(batch, false);
    expect(soon).toMatchObject({ open: 2, failed: 1 });
    expect(soon.nextDueAt).toBe(world.clock.now().getTime() + 3540 * SECOND_MS);
    world.clock.advance(3540 * SECOND_MS);
    const rest = await world.engine.processPendingEvents(batch, false);
    expect(rest).toMatchObject({ open: 1, failed: 2 });
    expect(rest.nextDueAt).toBe(world.clock.now().getTime() - (3600 + 600) * SECOND_MS + 30 * 86_400 * SECOND_MS);
    world.clock.advance(30 * 86_400 * SECOND_MS);
    await world.engine.processPendingEvents(batch, false);
    const texts = (await childrenOf(world.db, group)).map(({ result_text }) => result_text);
    expect(texts).toEqual([NO_RESULT, NO_RESULT, 'The computer did not answer within 30 days of delivery.']);
  });

  it('cancels the steps after it when no result arrives', async () => {
    const operations = [run(), { ...run(), after: 0 }];
    const { group, batch } = await delivered({ operations });
    world.clock.advance(TIME_LIMIT_MS);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ open: 0, failed: 1, canceled: 1 });
    expect((await childrenOf(world.db, group)).map(({ status }) => status)).toEqual(['failed', 'canceled']);
  });

  it('is held to the usual days when those are fewer', async () => {
    world.engine = world.engineWith(0.001);
    const { group, batch, at, first } = await delivered({ operations: [run()] });
    expect(first.nextDueAt).toBe(at.getTime() + 86_400);
    world.clock.advance(86_400);
    await world.engine.processPendingEvents(batch, false);
    expect((await childrenOf(world.db, group))[0]!.result_text).toContain('0.001 days');
  });
});
