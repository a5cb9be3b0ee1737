import { describe, expect } from 'vitest';
import { NO_RESULT } from '../../../src/domain/scripts/result.ts';
import { scriptOperation } from '../../../src/domain/scripts/script.ts';
import { aGroup, anAccount, childrenOf } from '../../support/activities/activity-rows.ts';
import { itOnRows as it } from '../../support/temporal/skipped-rows.ts';
import { countEvents, until } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('an agent that is offline for weeks', () => {
  it('gets its messages in order when it returns, none expired', async ({
    server,
    db,
    clock,
    start,
    agents,
    untilAll,
  }) => {
    const account = await anAccount(db);
    const groups: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const group = await aGroup(db, account, { now: await clock.read() });
      await start(group);
      await server.sleep(15 * DAY_MS);
      groups.push(group);
    }

    const fetched = await agents.fetch(account.computers);

    expect(fetched).toEqual(await Promise.all(groups.map(async (group) => (await childrenOf(db, group))[0]!.id)));
    await agents.report(fetched);
    for (const group of groups) await untilAll(group, 'succeeded');
  });
});

describe('a window after a moment', () => {
  it('spreads deliveries over it, each at its own time, which the API shows', async ({
    server,
    db,
    clock,
    start,
    agents,
    untilAll,
  }) => {
    const account = await anAccount(db, { computers: 30 });
    const now = await clock.read();
    const opensAt = now.getTime() + 2 * DAY_MS;
    const group = await aGroup(db, account, { now, deliverAfter: new Date(opensAt), windowMinutes: 60 });
    const handle = await start(group);

    const moments = (await childrenOf(db, group)).map(({ deliver_at }) => deliver_at!.getTime());
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(opensAt);
    expect(Math.max(...moments)).toBeLessThanOrEqual(opensAt + 60 * MINUTE_MS);
    expect(new Set(moments).size).toBeGreaterThan(25);

    expect(await agents.fetch(account.computers)).toEqual([]);
    await server.sleep(2 * DAY_MS + 30 * MINUTE_MS);
    const half = await agents.fetch(account.computers);
    expect(half.length).toBeGreaterThan(0);
    expect(half.length).toBeLessThan(30);
    await server.sleep(31 * MINUTE_MS);
    const rest = await agents.fetch(account.computers);
    expect(half.length + rest.length).toBe(30);

    await agents.report([...half, ...rest]);
    await untilAll(group, 'succeeded');
    const sent = await db.query<{ activity_id: number; sent_at: Date }>(
      'select activity_id, sent_at from agent_message where activity_id = any($1)',
      [[...half, ...rest]],
    );
    const sentAt = new Map(sent.map(({ activity_id, sent_at }) => [activity_id, sent_at]));
    for (const { id, delivery_time, deliver_at } of await childrenOf(db, group)) {
      expect(delivery_time).toEqual(sentAt.get(id));
      expect(delivery_time!.getTime()).toBeGreaterThanOrEqual(deliver_at!.getTime());
    }
    const batch = server.client.workflow.getHandle(`${handle.workflowId}/lane/1`);
    expect((await countEvents(batch)).total).toBeLessThan(80);
  });
});

describe('what can get no result any more', () => {
  it('fails 30 days after delivery, with the reason', async ({
    server,
    db,
    clock,
    start,
    agents,
    statuses,
    untilAll,
  }) => {
    const account = await anAccount(db);
    const group = await aGroup(db, account, { now: await clock.read() });
    await start(group);
    expect(await agents.fetch(account.computers)).toHaveLength(1);
    await untilAll(group, 'delivered');

    await server.sleep(29 * DAY_MS);
    expect(await statuses(group)).toEqual(['delivered']);
    await server.sleep(2 * DAY_MS);
    await untilAll(group, 'failed');

    const [operation] = await childrenOf(db, group);
    expect(operation!.result_text).toBe('The computer did not answer within 30 days of delivery.');
    const lasted = operation!.completion_time!.getTime() - operation!.delivery_time!.getTime();
    expect(lasted).toBeLessThan(30 * DAY_MS + MINUTE_MS);
  });

  it('ends ten minutes after the time limit when it is a script, with the reason', async ({
    server,
    db,
    clock,
    start,
    agents,
    statuses,
    untilAll,
  }) => {
    const account = await anAccount(db);
    const script = { id: 1, version: 1, title: 'x', interpreter: '/bin/sh', code: 'sleep 9', attachments: [] };
    const operations = [scriptOperation(script, { username: 'root', timeLimit: 5 * 60, env: {} })];
    const group = await aGroup(db, account, { now: await clock.read(), operations });
    await start(group);
    await server.sleep(DAY_MS);
    await agents.fetch(account.computers);
    await untilAll(group, 'delivered');

    await server.sleep(14 * MINUTE_MS);
    expect(await statuses(group)).toEqual(['delivered']);
    await server.sleep(2 * MINUTE_MS);
    await untilAll(group, 'failed');

    const [operation] = await childrenOf(db, group);
    expect(operation).toMatchObject({ result_text: NO_RESULT, result_code: null });
    const lasted = operation!.completion_time!.getTime() - operation!.delivery_time!.getTime();
    expect(lasted).toBeGreaterThanOrEqual(15 * MINUTE_MS);
    expect(lasted).toBeLessThan(16 * MINUTE_MS);
  });

  it('is not delivered after its last moment, and has the reason', async ({
    server,
    db,
    clock,
    start,
    agents,
    statuses,
  }) => {
    const account = await anAccount(db, { computers: 2 });
    const now = await clock.read();
    const group = await aGroup(db, account, { now });
    const last = new Date(now.getTime() + 3 * DAY_MS);
    await db.query('update activity set deliver_before_time = $2 where parent_id = $1', [group, last]);
    await start(group);
    const [delivered] = await agents.fetch(account.computers.slice(0, 1));

    await server.sleep(3 * DAY_MS + MINUTE_MS);
    await until(async () => (await statuses(group)).includes('failed'));

    expect(await agents.fetch(account.computers)).toEqual([]);
    const [one, other] = await childrenOf(db, group);
    expect(one).toMatchObject({ id: delivered, status: 'delivered' });
    expect(other).toMatchObject({ status: 'failed', message: 'withdrawn' });
    expect(other!.result_text).toBe('The computer did not fetch the operation before its last moment for delivery.');
  });
});
