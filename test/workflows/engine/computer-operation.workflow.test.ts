import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect } from 'vitest';
import {
  type ComputerOperationInput,
  type OperationCounts,
  RELEASED_WAKE_UP_SIGNAL,
} from '../../../workflows/contracts/activity.contract.ts';
import { OPERATIONS_QUERY, PROGRESS_QUERY } from '../../../workflows/contracts/queries.ts';
import { groupWorkflow } from '../../../workflows/contracts/workflow-types.ts';
import { itWithBatch } from '../../support/temporal/skipped-time.ts';
import { countEvents, failureOf, statusOf, until } from '../../support/temporal/workflow-environment.ts';

const DAY_MS = 86_400_000;

type Operation = (input: ComputerOperationInput) => Promise<OperationCounts>;

/** `startGroup` starts the workflow of a group of one computer, under the id that `wakeUp` signals. */
const it = itWithBatch.extend('startGroup', ({ server, batch, taskQueue }) => () => {
  const options = {
    taskQueue,
    workflowId: `activity/${batch}`,
    args: [{ id: batch, batch }] as [ComputerOperationInput],
  };
  return server.client.workflow.start<Operation>(groupWorkflow('InstallSnaps'), options);
});

describe('an action on one computer', () => {
  it('queues the message, waits for weeks, records the result and completes, without a child', async ({
    server,
    batch,
    batches,
    startGroup,
    wakeUp,
  }) => {
    batches.add(batch, 1);
    const handle = await startGroup();
    await until(() => batches.calls.length === 1);
    expect(await handle.query(OPERATIONS_QUERY)).toMatchObject([{ computer: 'web-0', waitsFor: 'delivery' }]);
    expect(await handle.query(PROGRESS_QUERY)).toMatchObject({ done: 0, total: 1, unit: 'computer' });
    await server.sleep(22 * DAY_MS);
    batches.report(batch, 0, 'succeeded');
    await wakeUp();
    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
    expect(batches.calls).toEqual(['queueMessage', 'recordReport']);
    // What an action on one computer costs the Temporal server, which stores every event.
    const events = await countEvents(handle);
    expect(events.total - events.of('workflowTaskScheduled') * 3).toBe(5);
  });

  it('is woken by a dispatcher of 0.1.0', async ({ batch, batches, startGroup }) => {
    batches.add(batch, 1);
    const handle = await startGroup();
    await until(() => batches.calls.length === 1);
    batches.report(batch, 0, 'succeeded');
    await handle.signal(RELEASED_WAKE_UP_SIGNAL);
    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
  });

  it('completes in its first workflow task when the result is already there', async ({
    batch,
    batches,
    startGroup,
  }) => {
    batches.add(batch, 1);
    batches.report(batch, 0, 'succeeded');
    const handle = await startGroup();
    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
    expect((await countEvents(handle)).of('workflowTaskScheduled')).toBe(1);
  });

  it('ends what got no result at its deadline, by one timer however often it is woken', async ({
    server,
    batch,
    batches,
    startGroup,
    wakeUp,
  }) => {
    batches.add(batch, 1);
    batches.due(batch, (await server.currentTimeMs()) + 30 * DAY_MS, 'failed');
    const handle = await startGroup();
    await until(() => batches.calls.length === 1);

    await wakeUp();
    await until(() => batches.calls.length === 2);

    expect(await failureOf(handle)).toMatchObject({ type: 'AgentFailure', category: 'BENIGN' });
    expect(batches.calls).toEqual(['queueMessage', 'recordReport', 'processDueTime']);
    const events = await countEvents(handle);
    expect([events.of('timerStarted'), events.of('timerCanceled'), events.of('timerFired')]).toEqual([1, 0, 1]);
  });

  it('carries out a chain, one operation after another, and fails when one of them failed', async ({
    batch,
    batches,
    startGroup,
    wakeUp,
  }) => {
    batches.add(batch, 2);
    const handle = await startGroup();

    batches.report(batch, 0, 'succeeded');
    await wakeUp();
    await until(() => batches.progress(batch).succeeded === 1);
    batches.report(batch, 1, 'failed');
    await wakeUp();

    expect(await failureOf(handle)).toBeInstanceOf(ApplicationFailure);
  });

  it('closes as Canceled when it is canceled before the delivery', async ({ server, batch, batches, startGroup }) => {
    batches.add(batch, 1);
    const handle = await startGroup();
    await until(() => batches.calls.length === 1);

    await handle.cancel();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.calls).toEqual(['queueMessage', 'cancelOperations']);
    expect(batches.progress(batch)).toMatchObject({ open: 0, canceled: 1 });
  });

  it('closes as Canceled when its rows were canceled first', async ({ server, batch, batches, startGroup, wakeUp }) => {
    batches.add(batch, 1);
    const handle = await startGroup();

    batches.report(batch, 0, 'canceled');
    await wakeUp();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await statusOf(server.client, handle.workflowId)).toBe('CANCELLED');
    expect(batches.calls.at(-1)).toBe('cancelRun');
  });

  it('is started again from the rows at any moment', async ({ server, batch, batches, startGroup, wakeUp }) => {
    batches.add(batch, 2);
    const first = await startGroup();

    batches.report(batch, 0, 'succeeded');
    await wakeUp();
    await until(() => batches.progress(batch).succeeded === 1);
    await first.terminate();
    batches.report(batch, 1, 'succeeded');
    const second = await startGroup();

    expect(await second.result()).toEqual({ succeeded: 2, failed: 0, canceled: 0 });
    expect(await statusOf(server.client, second.workflowId)).toBe('COMPLETED');
  });

  it('goes on as a normal activity for as long as the database is down', async ({ batch, batches, startGroup }) => {
    batches.add(batch, 1);
    batches.failures = 6;
    batches.report(batch, 0, 'succeeded');
    const handle = await startGroup();
    expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
  });
});
