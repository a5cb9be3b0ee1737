import { CancelledFailure } from '@temporalio/common';
import { describe, expect } from 'vitest';
import { createKernelsService, type KernelCommand } from '../../../src/services/software/kernels.service.ts';
import { anAccount, childrenOf, SETTINGS } from '../../support/activities/activity-rows.ts';
import { reportKernels } from '../../support/computers/computers.ts';
import { administratorOf } from '../../support/http/app.ts';
import { itOnRows } from '../../support/temporal/skipped-rows.ts';
import { failureOf, statusOf, until } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** `changeKernel` requests a kernel change and then a restart of one computer. */
const it = itOnRows.extend('changeKernel', ({ db, clock }) => async (command: Partial<KernelCommand> = {}) => {
  const account = await anAccount(db);
  const computers = account.computers.slice(0, 1);
  const { next } = await reportKernels(db, computers[0]!);
  const service = createKernelsService({ db, clock, settings: SETTINGS });
  const { id: group } = await service.change(await administratorOf(db, account), 'upgrade', {
    computerId: computers[0]!,
    packageId: next,
    after: null,
    rebootAfter: true,
    deliverAfter: null,
    deliverAfterPath: 'body.deliver_after',
    windowMinutes: 0,
    traceparent: null,
    ...command,
  });
  const [change, restart] = await childrenOf(db, group);
  return { computers, group, batch: change!.lane_id, change: change!.id, restart: restart!.id };
});

describe('a kernel change followed by a restart', () => {
  it('waits days for its moment and its place in the window, then restarts after the success alone', async ({
    server,
    db,
    clock,
    changeKernel,
    start,
    agents,
    statuses,
  }) => {
    const opensAt = (await clock.read()).getTime() + 3 * DAY_MS;
    const window = { deliverAfter: new Date(opensAt).toISOString(), windowMinutes: 120 };
    const { computers, group, change, restart } = await changeKernel(window);
    const handle = await start(group);
    expect(await statuses(group)).toEqual(['undelivered', 'waiting']);

    await server.sleep(3 * DAY_MS - MINUTE_MS);
    expect(await agents.fetch(computers)).toEqual([]);
    await server.sleep(121 * MINUTE_MS);
    expect(await agents.fetch(computers)).toEqual([change]);
    const moment = (await childrenOf(db, group))[0]!.deliver_at!.getTime();
    expect(moment).toBeGreaterThanOrEqual(opensAt - 1000);
    expect(moment).toBeLessThanOrEqual(opensAt + 120 * MINUTE_MS);

    await until(async () => (await statuses(group))[0] === 'delivered');
    expect(await statuses(group)).toEqual(['delivered', 'waiting']);
    await server.sleep(20 * MINUTE_MS);
    expect(await agents.fetch(computers)).toEqual([]);

    await agents.report([change]);
    await until(async () => (await statuses(group))[1] === 'undelivered');
    expect(await agents.fetch(computers)).toEqual([restart]);
    await agents.report([restart]);
    expect(await failureOf(handle)).toBeNull();
    expect(await statuses(group)).toEqual(['succeeded', 'succeeded']);
    expect(await statusOf(server.client, handle.workflowId)).toBe('COMPLETED');
  });

  it('never restarts after a failure', async ({ server, changeKernel, start, agents, statuses }) => {
    const { computers, group, change } = await changeKernel();
    const handle = await start(group);
    expect(await agents.fetch(computers)).toEqual([change]);

    await agents.report([change], false);

    expect(await failureOf(handle)).not.toBeNull();
    expect(await statuses(group)).toEqual(['failed', 'canceled']);
    expect(await agents.fetch(computers)).toEqual([]);
    expect(await statusOf(server.client, handle.workflowId)).toBe('FAILED');
  });

  it('never restarts when the change never gets a result', async ({
    server,
    changeKernel,
    start,
    agents,
    statuses,
  }) => {
    const { computers, group, change } = await changeKernel();
    const handle = await start(group);
    expect(await agents.fetch(computers)).toEqual([change]);
    await until(async () => (await statuses(group))[0] === 'delivered');

    await server.sleep(31 * DAY_MS);

    expect(await failureOf(handle)).not.toBeNull();
    expect(await statuses(group)).toEqual(['failed', 'canceled']);
    expect(await agents.fetch(computers)).toEqual([]);
  });

  it('restarts no more once canceled, although the change is reported afterwards', async ({
    engine,
    changeKernel,
    start,
    agents,
    statuses,
    untilAll,
  }) => {
    const { computers, group, batch, change } = await changeKernel();
    const handle = await start(group);
    expect(await agents.fetch(computers)).toEqual([change]);
    await until(async () => (await statuses(group))[0] === 'delivered');

    await handle.cancel();
    // Waiting for the end lets the time skip, on a slow machine past the expiry before the cancel is seen.
    await untilAll(group, 'canceled');
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    await agents.report([change]);
    await engine.processPendingEvents(batch, false);

    expect(await statuses(group)).toEqual(['succeeded', 'canceled']);
    expect(await agents.fetch(computers)).toEqual([]);
  });
});
