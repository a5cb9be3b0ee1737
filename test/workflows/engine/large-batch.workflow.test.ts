import { CancelledFailure } from '@temporalio/common';
import { describe, expect } from 'vitest';
import { itWithBatch as it } from '../../support/temporal/skipped-time.ts';
import {
  countEvents,
  failureOf,
  statusOf,
  until,
  workflowCodeContinuingAfter,
} from '../../support/temporal/workflow-environment.ts';

describe('batch of many computers', () => {
  it('processes 500 results in few activities, empty and duplicate wake-ups included', async ({
    batch,
    batches,
    start,
    wakeUp,
  }) => {
    batches.add(batch, 500);
    const handle = await start();

    for (let row = 0; row < 500; row += 50) {
      for (let offset = 0; offset < 50; offset += 1)
        batches.report(batch, row + offset, offset === 0 ? 'failed' : 'succeeded');
      await wakeUp();
      await wakeUp();
    }

    expect(await handle.result()).toEqual({ succeeded: 490, failed: 10, canceled: 0 });
    expect((await countEvents(handle)).total).toBeLessThanOrEqual(100);
  });

  describe('with short histories', () => {
    it.override('code', () => workflowCodeContinuingAfter(20));

    it('continues as new when its history is long, and loses nothing', async ({
      server,
      batch,
      batches,
      start,
      wakeUp,
    }) => {
      batches.add(batch, 30);
      const first = await start();

      for (let row = 0; row < 30; row += 1) {
        batches.report(batch, row, 'succeeded');
        await wakeUp();
        await until(() => batches.progress(batch).succeeded === row + 1);
      }

      expect(await first.result()).toEqual({ succeeded: 30, failed: 0, canceled: 0 });
      const firstRun = await countEvents(server.client.workflow.getHandle(first.workflowId, first.firstExecutionRunId));
      expect(firstRun.of('workflowExecutionContinuedAsNew')).toBe(1);
      // All 30 wake-ups in one run would be over 120. It goes on while events are pending, which is longer on a slow machine.
      expect(firstRun.total).toBeLessThan(120);
    });
  });

  it('closes as Canceled when canceled, and counts what was done before', async ({
    server,
    batch,
    batches,
    start,
    wakeUp,
  }) => {
    batches.add(batch, 20);
    const handle = await start();

    for (let row = 0; row < 5; row += 1) batches.report(batch, row, 'succeeded');
    await wakeUp();
    await until(() => batches.progress(batch).succeeded === 5);
    await handle.cancel();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.progress(batch)).toMatchObject({ open: 0, succeeded: 5, canceled: 15 });
  });

  it('completes with counts when single rows were canceled or failed', async ({ batch, batches, start, wakeUp }) => {
    batches.add(batch, 3);
    const handle = await start();

    batches.report(batch, 0, 'canceled');
    batches.report(batch, 1, 'failed');
    batches.report(batch, 2, 'succeeded');
    await wakeUp();

    expect(await handle.result()).toEqual({ succeeded: 1, failed: 1, canceled: 1 });
  });
});
