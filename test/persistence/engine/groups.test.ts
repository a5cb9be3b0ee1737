import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aChain, addEvent, aGroup, anAccount, childrenOf } from '../../support/activities/activity-rows.ts';
import { EngineWorld } from '../../support/activities/engine-world.ts';

let world: EngineWorld;

beforeAll(async () => {
  world = await EngineWorld.create();
});
afterAll(() => world?.close());
beforeEach(() => world.reset());

const BATCHES_OF_TWO = { singleBatchLimit: 0, batchMinSize: 2, batchMaxSize: 2 };

async function cancelCommands(group: number) {
  const inbox = await world.db.query<{ lane_id: number }>(
    `select i.lane_id from agent_inbox i join lane l on l.id = i.lane_id
     where l.parent_id = $1 and i.kind = 'cancel' and i.activity_id is null order by i.id`,
    [group],
  );
  const outbox = await world.db.query<{ key: string; account_id: number }>(
    `select o.key, o.account_id from outbox o join lane l on l.wf_id = o.key
     where l.parent_id = $1 and o.kind = 'cancel' order by o.id`,
    [group],
  );
  return { batches: inbox.map(({ lane_id }) => lane_id), workflows: outbox };
}

describe('the cancel of a group', () => {
  it('cancels unopened batches and writes a cancel for the opened ones, once, however often it is called', async () => {
    const account = await anAccount(world.db, { computers: 6 });
    const group = await aGroup(world.db, account, { settings: BATCHES_OF_TWO });
    const [first, second, third] = await world.engine.listOpenBatches(group);
    await world.engine.processPendingEvents(first!.batch, false);
    await world.engine.processPendingEvents(second!.batch, true);
    for (let time = 0; time < 2; time += 1) {
      expect(await world.engine.getGroupProgress(group, true)).toMatchObject({ open: 2, canceled: 4, status: 'open' });
    }
    expect(await cancelCommands(group)).toEqual({
      batches: [first!.batch],
      workflows: [{ key: first!.workflowId, account_id: account.accountId }],
    });
    expect(await world.engine.processPendingEvents(third!.batch, false)).toMatchObject({ open: 0, canceled: 2 });
    await world.engine.processPendingEvents(first!.batch, false);
    expect(await world.engine.getGroupProgress(group, true)).toMatchObject({
      open: 0,
      canceled: 6,
      status: 'canceled',
    });
    expect((await cancelCommands(group)).batches).toEqual([]);
  });

  it('adds no cancel command without one, nor beside that of a request', async () => {
    const { group, batch } = await world.oneBatch({}, { computers: 2 });
    await world.engine.processPendingEvents(batch, false);
    await world.engine.getGroupProgress(group, false);
    expect(await cancelCommands(group)).toEqual({ batches: [], workflows: [] });
    await world.db.query(`insert into agent_inbox (lane_id, kind) values ($1, 'cancel')`, [batch]);
    await world.engine.getGroupProgress(group, true);
    expect(await cancelCommands(group)).toEqual({ batches: [batch], workflows: [] });
  });

  it('is not taken for the cancel of one operation', async () => {
    const { group, batch, ids } = await world.oneBatch({}, { computers: 2 });
    await world.engine.processPendingEvents(batch, false);
    await world.db.query(`insert into agent_inbox (lane_id, activity_id, kind) values ($1, $2, 'cancel')`, [
      batch,
      ids[0],
    ]);
    await world.engine.getGroupProgress(group, true);
    await world.engine.processPendingEvents(batch, false);
    expect((await childrenOf(world.db, group)).map(({ status }) => status)).toEqual(['canceled', 'canceled']);
  });
});

describe('what operators read of chains', () => {
  it('is each computer once, and that the batch counts operations', async () => {
    const { group, batch } = await world.oneBatch({ operations: aChain(3) }, { computers: 5 });
    const [plan] = await world.engine.listOpenBatches(group);
    expect(plan).toMatchObject({ size: 15, computers: 5 });
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({
      open: 15,
      chained: true,
      waitingFor: ['web-1', 'web-2', 'web-3'],
      moreWaiting: 2,
    });
  });

  it('is the first hundred open operations while more are open', async () => {
    const { group, batch, ids } = await world.oneBatch({}, { computers: 120 });
    const progress = await world.engine.processPendingEvents(batch, false);
    expect(progress.operations?.map(({ operation }) => operation)).toEqual(ids.slice(0, 100));
    expect(progress.operations?.[99]).toEqual({ computer: 'web-100', operation: ids[99], waitsFor: 'delivery' });
    expect(progress).toMatchObject({ open: 120, waitingFor: ['web-1', 'web-2', 'web-3'], moreWaiting: 117 });
    await world.engine.getGroupProgress(group, true);
    expect((await world.engine.processPendingEvents(batch, false)).operations).toBeUndefined();
  });

  it('is the first hundred open operations of all batches of a group, each with its workflow', async () => {
    const account = await anAccount(world.db, { computers: 103 });
    const group = await aGroup(world.db, account, {
      now: world.clock.now(),
      settings: { singleBatchLimit: 0, batchMinSize: 60, batchMaxSize: 60 },
    });
    const plans = await world.engine.listOpenBatches(group);
    const ids = (await childrenOf(world.db, group)).map(({ id }) => id);
    expect(plans.map(({ operations }) => operations?.length)).toEqual([60, 40]);
    const listed = plans.flatMap(({ operations = [] }) => operations);
    expect(listed.map(({ operation }) => operation)).toEqual(ids.slice(0, 100));
    await addEvent(world.db, { batch: plans[0]!.batch, activity: ids[0]!, kind: 'delivered', at: world.clock.now() });
    await addEvent(world.db, { batch: plans[0]!.batch, activity: ids[1]!, kind: 'cancel', at: world.clock.now() });
    await world.engine.processPendingEvents(plans[0]!.batch, false);
    const { operations } = await world.engine.getGroupProgress(group, false);
    expect(operations).toHaveLength(100);
    expect(operations?.slice(0, 2)).toEqual([
      { computer: 'web-1', operation: ids[0], waitsFor: 'result', workflowId: `activity/${group}/lane/1` },
      { computer: 'web-3', operation: ids[2], waitsFor: 'delivery', workflowId: `activity/${group}/lane/1` },
    ]);
    expect(operations?.at(-1)).toMatchObject({ operation: ids[100], workflowId: `activity/${group}/lane/2` });
    await world.engine.getGroupProgress(group, true);
    await world.engine.processPendingEvents(plans[0]!.batch, false);
    expect((await world.engine.getGroupProgress(group, false)).operations).toBeUndefined();
  });

  it('is not requested where every computer has one operation', async () => {
    const { group, batch } = await world.oneBatch({}, { computers: 5 });
    expect(await world.engine.listOpenBatches(group)).toMatchObject([{ size: 5, computers: 5 }]);
    expect(await world.engine.processPendingEvents(batch, false)).toMatchObject({ chained: false, moreWaiting: 2 });
  });
});

describe('groups', () => {
  it('lists open batches in order and cancels batches that were never opened', async () => {
    const account = await anAccount(world.db, { computers: 5 });
    const group = await aGroup(world.db, account, {
      settings: { singleBatchLimit: 0, batchMinSize: 2, batchMaxSize: 2 },
    });
    const plans = await world.engine.listOpenBatches(group);
    expect(plans.map(({ workflowId, single, summary }) => ({ workflowId, single, summary }))).toEqual([
      { workflowId: `activity/${group}/lane/1`, single: false, summary: 'computers 1-2 of 5' },
      { workflowId: `activity/${group}/lane/2`, single: false, summary: 'computers 3-4 of 5' },
      { workflowId: `activity/${group}/lane/3`, single: false, summary: 'computers 5-5 of 5' },
    ]);
    await world.engine.processPendingEvents(plans[0]!.batch, false);
    expect(await world.engine.getGroupProgress(group, true)).toMatchObject({ open: 2, canceled: 3, status: 'open' });
    await world.engine.processPendingEvents(plans[0]!.batch, true);
    expect(await world.engine.listOpenBatches(group)).toEqual([]);
    expect(await world.engine.getGroupProgress(group, true)).toMatchObject({
      open: 0,
      canceled: 5,
      status: 'canceled',
    });
  });

  it('shows the text of a cancel', async () => {
    const { batch, group } = await world.oneBatch();
    await addEvent(world.db, {
      batch,
      activity: null,
      kind: 'cancel',
      body: 'terminated by an operator',
      at: world.clock.now(),
    });
    await world.engine.processPendingEvents(batch, false);
    expect((await childrenOf(world.db, group))[0]!.result_text).toBe('terminated by an operator');
  });

  it('shows the text of what was canceled by itself when the whole batch is canceled too', async () => {
    const { batch, group, ids } = await world.oneBatch({}, { computers: 2 });
    await addEvent(world.db, {
      batch,
      activity: ids[1]!,
      kind: 'cancel',
      body: 'The computer was removed.',
      at: world.clock.now(),
    });
    expect(await world.engine.processPendingEvents(batch, true)).toMatchObject({ open: 0, canceled: 2 });
    expect((await childrenOf(world.db, group)).map(({ result_text }) => result_text)).toEqual([
      null,
      'The computer was removed.',
    ]);
  });

  it('keeps the counters right when batches of one group are processed at once', async () => {
    const account = await anAccount(world.db, { computers: 40 });
    const group = await aGroup(world.db, account, {
      settings: { singleBatchLimit: 0, batchMinSize: 5, batchMaxSize: 5 },
    });
    const batches = (await world.engine.listOpenBatches(group)).map(({ batch }) => batch);
    await Promise.all(batches.concat(batches).map((batch) => world.engine.processPendingEvents(batch, false)));
    await world.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok)
       select lane_id, id, 'result', id % 2 = 0 from activity where parent_id = $1`,
      [group],
    );
    await Promise.all(batches.concat(batches, batches).map((batch) => world.engine.processPendingEvents(batch, false)));
    expect(await world.engine.getGroupProgress(group, false)).toMatchObject({
      open: 0,
      succeeded: 20,
      failed: 20,
      status: 'failed',
    });
  });
});
