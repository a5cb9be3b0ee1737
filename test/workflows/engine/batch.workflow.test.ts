import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect } from 'vitest';
import { RELEASED_WAKE_UP_SIGNAL, WAKE_UP_SIGNAL } from '../../../workflows/contracts/activity.contract.ts';
import { FAILURE_TYPES } from '../../../workflows/contracts/failures.ts';
import { OPERATIONS_QUERY, PROGRESS_QUERY } from '../../../workflows/contracts/queries.ts';
import type { FakeBatches } from '../../support/activities/fakes.ts';
import { itWithBatch as it } from '../../support/temporal/skipped-time.ts';
import {
  countEvents,
  failureOf,
  statusOf,
  until,
  workflowCode,
  workflowCodeContinuingAfter,
} from '../../support/temporal/workflow-environment.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const advances = (batches: FakeBatches) => batches.calls.filter((call) => call === 'processPendingEvents').length;

describe('batch of one computer', () => {
  it('waits for weeks without an event and completes with the result', async ({
    server,
    batch,
    batches,
    start,
    wakeUp,
  }) => {
    batches.add(batch, 1);
    const handle = await start();
    await until(() => advances(batches) === 1);

    await server.sleep(22 * DAY_MS);

    expect(advances(batches)).toBe(1);
    batches.report(batch, 0, 'succeeded');
    await wakeUp();
    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
    // What the batch costs the Temporal server, which stores every event: waiting costs nothing.
    expect((await countEvents(handle)).total).toBe(11);
  });

  it('is woken by a dispatcher of 0.1.0', async ({ batch, batches, start }) => {
    batches.add(batch, 1);
    const handle = await start();
    await until(() => advances(batches) === 1);
    batches.report(batch, 0, 'succeeded');
    await handle.signal(RELEASED_WAKE_UP_SIGNAL);
    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
  });

  it('fails when the computer fails', async ({ server, batch, batches, start, wakeUp }) => {
    batches.add(batch, 1);
    const handle = await start();

    batches.report(batch, 0, 'failed');
    await wakeUp();

    const failure = await failureOf(handle);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: 'AgentFailure', category: 'BENIGN' });
    expect(await statusOf(server.client, handle.workflowId)).toBe('FAILED');
  });

  it('processes again at its due time, with one timer however often it is woken', async ({
    server,
    batch,
    batches,
    start,
    wakeUp,
  }) => {
    batches.add(batch, 1);
    batches.due(batch, (await server.currentTimeMs()) + 30 * DAY_MS, 'failed');
    const handle = await start();

    for (let round = 2; round <= 4; round += 1) {
      await until(() => advances(batches) === round - 1);
      await wakeUp();
    }

    expect(await failureOf(handle)).toBeInstanceOf(ApplicationFailure);
    const events = await countEvents(handle);
    expect(events.of('timerStarted')).toBe(1);
    expect(events.of('timerCanceled')).toBe(0);
    expect(events.of('timerFired')).toBe(1);
  });

  describe.each<[string, () => Promise<string>]>([
    ['in one run', workflowCode],
    ['over many runs', () => workflowCodeContinuingAfter(20)],
  ])('%s', (_, code) => {
    it.override('code', code);

    it('checks at growing intervals for a time that the clock of the rows has not reached', async ({
      server,
      batch,
      batches,
      start,
    }) => {
      const dueAt = await server.currentTimeMs();
      batches.add(batch, 1);
      let lookedAt = 0;
      batches.now = async () => {
        lookedAt = await server.currentTimeMs();
        return lookedAt - HOUR_MS;
      };
      batches.due(batch, dueAt, 'failed');
      const handle = await start();
      expect(await failureOf(handle)).toBeInstanceOf(ApplicationFailure);
      expect(advances(batches)).toBeLessThanOrEqual(150);
      expect(lookedAt - dueAt).toBeLessThan(HOUR_MS + 120_000);
    });
  });

  it('closes as Canceled when canceled before delivery', async ({ server, batch, batches, start }) => {
    batches.add(batch, 1);
    const handle = await start();
    await until(() => advances(batches) === 1);

    await handle.cancel();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.progress(batch)).toMatchObject({ open: 0, canceled: 1 });
    expect(batches.calls).not.toContain('cancelRun');
    // As many as for a result.
    expect((await countEvents(handle)).total).toBe(11);
  });

  it('updates its rows when canceled before its first activity', async ({ server, batch, batches, start }) => {
    batches.add(batch, 1);
    batches.failures = 2;
    const handle = await start();

    await handle.cancel();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.progress(batch)).toMatchObject({ open: 0, canceled: 1 });
  });

  it('closes as Canceled when only its row was canceled', async ({ server, batch, batches, start, wakeUp }) => {
    batches.add(batch, 1);
    const handle = await start();

    batches.report(batch, 0, 'canceled');
    await wakeUp();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.calls.filter((call) => call === 'cancelRun')).toHaveLength(1);
  });

  it('completes when the result was there before the cancel', async ({ batch, batches, start }) => {
    batches.add(batch, 1);
    const handle = await start();
    await until(() => advances(batches) === 1);

    batches.report(batch, 0, 'succeeded');
    await handle.cancel();

    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
  });

  it('ignores late and duplicate results', async ({ batch, batches, start, wakeUp }) => {
    batches.add(batch, 1);
    const handle = await start();

    batches.report(batch, 0, 'succeeded');
    batches.report(batch, 0, 'failed');
    await wakeUp();
    await wakeUp();

    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
    await expect(handle.signal(WAKE_UP_SIGNAL)).rejects.toThrow(WorkflowNotFoundError);
  });

  it('continues with a retried Temporal activity when the database is unavailable', async ({
    batch,
    batches,
    start,
  }) => {
    batches.add(batch, 1);
    batches.report(batch, 0, 'succeeded');
    batches.failures = 5;
    const handle = await start();
    expect(await handle.result()).toMatchObject({ succeeded: 1 });
    expect(advances(batches)).toBe(6);
    const events = await countEvents(handle);
    expect(events.of('activityTaskScheduled')).toBe(1);
    expect(events.total).toBeLessThanOrEqual(17);
  });

  it('fails with a name, without a retry, where a retry would change nothing', async ({ batch, batches, start }) => {
    batches.add(batch, 1);
    batches.failures = Number.POSITIVE_INFINITY;
    batches.failure = ApplicationFailure.nonRetryable('rows is not iterable', FAILURE_TYPES.defect);
    const handle = await start();
    const failure = await failureOf(handle);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: FAILURE_TYPES.defect, message: 'rows is not iterable' });
    expect(advances(batches)).toBe(1);
  });

  it('shows operators what it waits for', async ({ batch, batches, start, wakeUp }) => {
    batches.add(batch, 10);
    const handle = await start({ single: false });

    for (let row = 0; row < 8; row += 1) batches.report(batch, row, 'succeeded');
    await wakeUp();
    const details = async () =>
      (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
    await until(async () => (await details()) === '8 of 10 computers done; waiting for web-8, web-9');

    expect(await handle.query(PROGRESS_QUERY)).toEqual({
      done: 8,
      total: 10,
      unit: 'computer',
      waitingFor: ['web-8', 'web-9'],
      more: 0,
    });
    expect(await handle.query(OPERATIONS_QUERY)).toEqual([
      { computer: 'web-8', operation: 8, waitsFor: 'delivery' },
      { computer: 'web-9', operation: 9, waitsFor: 'delivery' },
    ]);
    await handle.terminate();
  });
});

describe('batch of a chain on one computer', () => {
  it.for([
    ['succeeded', 'canceled', 'CANCELLED'],
    ['succeeded', 'failed', 'FAILED'],
    ['failed', 'canceled', 'FAILED'],
    ['canceled', 'canceled', 'CANCELLED'],
    ['succeeded', 'succeeded', 'COMPLETED'],
  ] as const)(
    'of which one operation %s and one %s closes as %s',
    async ([one, other, status], { server, batch, batches, start, wakeUp }) => {
      batches.add(batch, 2);
      const handle = await start({ single: true });

      batches.report(batch, 0, one);
      batches.report(batch, 1, other);
      await wakeUp();
      await handle.result().catch(() => undefined);

      expect(await statusOf(server.client, handle.workflowId)).toBe(status);
    },
  );
});
