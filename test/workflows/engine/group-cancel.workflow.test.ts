import { CancelledFailure } from '@temporalio/common';
import { describe, expect } from 'vitest';
import { itWithGroup as it } from '../../support/temporal/skipped-time.ts';
import { failureOf, statusOf, until } from '../../support/temporal/workflow-environment.ts';

describe('activity that is canceled', () => {
  it('passes a cancel on to its batches and closes as Canceled when nothing was done', async ({
    server,
    batches,
    addBatches,
    startGroup,
    untilOpened,
  }) => {
    const ids = addBatches(1, 20);
    const handle = await startGroup();
    await untilOpened();

    await handle.cancel();
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    for (const batch of ids) {
      expect(await statusOf(server.client, `activity/${batch}`)).toBe('CANCELLED');
      expect(batches.progress(batch).open).toBe(0);
    }
  });

  it('passes a cancel on to batches that another workflow drives, whatever its own batches do', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    driveElsewhere,
  }) => {
    const ids = addBatches(1, 1);
    await driveElsewhere(ids[0]);
    const handle = await startGroup();
    await untilOpened();

    await handle.cancel();
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    for (const batch of ids) expect(await statusOf(server.client, `activity/${batch}`)).toBe('CANCELLED');
  });

  it('cancels its batches when it waits for none of its own', async ({
    server,
    batches,
    addBatches,
    startGroup,
    driveElsewhere,
  }) => {
    const ids = addBatches(1, 1);
    for (const batch of ids) await driveElsewhere(batch);
    const handle = await startGroup();

    await until(() => batches.calls.includes('getGroupProgress'));
    await handle.cancel();
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    for (const batch of ids) expect(await statusOf(server.client, `activity/${batch}`)).toBe('CANCELLED');
  });

  it('closes as Canceled when it was canceled half way, as its row does', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second] = addBatches(1, 1);
    const handle = await startGroup();
    await untilOpened();

    await report(first, 'succeeded');
    await until(async () => (await statusOf(server.client, `activity/${first}`)) !== 'RUNNING');
    await handle.cancel();
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, `activity/${second}`)).toBe('CANCELLED');
  });

  it('closes as Canceled when one computer was canceled by itself and the others succeeded', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second] = addBatches(1, 1);
    const handle = await startGroup();
    await untilOpened();

    await report(first, 'succeeded');
    await report(second, 'canceled');
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, `activity/${first}`)).toBe('COMPLETED');
    expect(await statusOf(server.client, `activity/${second}`)).toBe('CANCELLED');
  });

  it('closes as Canceled when every computer was canceled by itself', async ({
    server,
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const ids = addBatches(1, 1);
    const handle = await startGroup();
    await untilOpened();

    for (const batch of ids) await report(batch, 'canceled');
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.calls.filter((call) => call === 'cancelRun')).toHaveLength(3);
  });

  it('updates batches that were never started when canceled before its first activity', async ({
    batches,
    addBatches,
    startGroup,
  }) => {
    const ids = addBatches(1, 1);
    batches.failures = 2;
    const handle = await startGroup();

    await handle.cancel();
    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    for (const batch of ids) expect(batches.progress(batch)).toMatchObject({ open: 0, canceled: 1 });
  });
});
