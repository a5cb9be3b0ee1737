import type { Client, WorkflowHandle } from '@temporalio/client';
import { CancelledFailure, type SearchAttributePair } from '@temporalio/common';
import { describe, expect } from 'vitest';
import type { OpenOperation } from '../../../workflows/contracts/activities.ts';
import type { GroupInput, OperationCounts } from '../../../workflows/contracts/activity.contract.ts';
import { OPERATIONS_QUERY } from '../../../workflows/contracts/queries.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import { groupWorkflow, OPERATION_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { itWithBatch } from '../../support/temporal/skipped-time.ts';
import { countEvents, failureOf, statusOf, until, wakeUp } from '../../support/temporal/workflow-environment.ts';

type Group = (input: GroupInput) => Promise<OperationCounts>;

/** `addBatches` adds those of a group by their numbers of rows, `startGroup` starts its workflow. */
const it = itWithBatch
  .extend(
    'addBatches',
    ({ batch: group, batches, siblings }) =>
      <const Sizes extends readonly number[]>(...sizes: Sizes) => {
        const added = sizes.map((_, place) => group + 1 + place);
        for (const [place, id] of added.entries()) batches.add(id, sizes[place]!);
        siblings.push(...added);
        return added as { [Place in keyof Sizes]: number };
      },
  )
  .extend('startGroup', ({ server, batch: group, taskQueue }) => () => {
    const attributes: SearchAttributePair[] = [{ key: SEARCH_ATTRIBUTES.accountId, value: '1' }];
    return server.client.workflow.start<Group>(groupWorkflow('InstallSnaps'), {
      taskQueue,
      workflowId: `activity/${group}`,
      args: [{ id: group }],
      typedSearchAttributes: attributes,
    });
  })
  .extend('untilOpened', ({ batches, siblings }) => () => {
    const isOpening = (call: string) => call === 'queueMessage' || call === 'processPendingEvents';
    return until(() => batches.calls.filter(isOpening).length >= siblings.length);
  })
  .extend('report', ({ server, batches }) => async (batch: number, outcome: 'succeeded' | 'failed' | 'canceled') => {
    batches.report(batch, 0, outcome);
    await wakeUp(server.client, `activity/${batch}`);
  })
  // As after a repair: the batch is no child of its group's workflow.
  .extend(
    'driveElsewhere',
    ({ server, taskQueue }) =>
      (batch: number) =>
        server.client.workflow.start(OPERATION_WORKFLOW, {
          taskQueue,
          workflowId: `activity/${batch}`,
          args: [{ batch, single: true }],
        }),
  );

const isRunning = async (client: Client, id: number) =>
  (await statusOf(client, `activity/${id}`).catch(() => 'missing')) === 'RUNNING';
const detailsOf = async (handle: WorkflowHandle<Group>) =>
  (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;

describe('activity', () => {
  it('runs a batch per plan as visible children and completes with their counts', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const ids = addBatches(1, 1, 1);
    const handle = await startGroup();
    await untilOpened();

    const description = await server.client.workflow.getHandle(`activity/${ids[0]}`).describe();
    expect(description.parentExecution?.workflowId).toBe(handle.workflowId);
    expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.accountId)).toBe('1');
    expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.computerId)).toBe(String(ids[0]));
    expect(`activity/${description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.groupId)}`).toBe(handle.workflowId);
    for (const batch of ids) await report(batch, 'succeeded');
    expect(await handle.result()).toEqual({ succeeded: 3, failed: 0, canceled: 0 });
    const events = await countEvents(handle);
    const tasks = events.of('workflowTaskScheduled');
    expect(events.total - tasks * 3).toBe(15);
    // One at the start, and one for each batch that starts and each that ends; what comes together shares one.
    expect(tasks).toBeLessThanOrEqual(7);
  });

  it('counts computers, whatever they have to do, and names batches of many with theirs', async ({
    batches,
    addBatches,
    startGroup,
    untilOpened,
  }) => {
    const [first, ...others] = addBatches(3, 20, 20, 20);
    batches.add(first, 3, { single: true, computers: 1, computer: { id: first, title: `web-${first}` } });
    for (const [place, batch] of others.entries()) batches.add(batch, 20, { summary: `computers of batch ${place}` });
    const handle = await startGroup();
    await untilOpened();

    expect(await detailsOf(handle)).toBe(
      `0 of 61 computers done; waiting for web-${first}, computers of batch 0, computers of batch 1 and 20 more`,
    );
    await handle.cancel();
    await failureOf(handle);
  });

  it('does not count a batch as done that another workflow drives', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
    driveElsewhere,
  }) => {
    const [first, second, third] = addBatches(1, 1, 1);
    await driveElsewhere(first);
    const handle = await startGroup();
    await untilOpened();

    await until(async () => (await detailsOf(handle)).startsWith(`0 of 3 computers done; waiting for web-${first}`));
    for (const batch of [second, third]) await report(batch, 'succeeded');
    await until(async () => (await detailsOf(handle)) === '2 of 3 computers done');
    expect(await isRunning(server.client, second)).toBe(false);
    await report(first, 'succeeded');
    await handle.result();
  });

  it('shows operators how many are done and who is missing', async ({
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second, third] = addBatches(1, 1, 1);
    const handle = await startGroup();
    await untilOpened();

    await report(first, 'succeeded');
    await until(
      async () => (await detailsOf(handle)) === `1 of 3 computers done; waiting for web-${second}, web-${third}`,
    );
    await report(second, 'succeeded');
    await report(third, 'succeeded');
    await handle.result();
  });

  it('lists the open operations of all computers and what each waits for, read again as time passes', async ({
    server,
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second] = addBatches(1, 2);
    const handle = await startGroup();
    const listed = () => handle.query<OpenOperation[]>(OPERATIONS_QUERY);
    const operation = (batch: number, row: number, waitsFor: OpenOperation['waitsFor']) => ({
      computer: `web-${row}`,
      operation: row,
      waitsFor,
      workflowId: `activity/${batch}`,
    });
    await untilOpened();

    expect(await listed()).toEqual([
      operation(first, 0, 'delivery'),
      operation(second, 0, 'delivery'),
      operation(second, 1, 'delivery'),
    ]);
    await server.sleep('20 s');
    await until(() => batches.calls.includes('getGroupProgress'));
    await until(async () => (await listed())[0]?.waitsFor === 'result');
    await report(first, 'succeeded');
    await until(async () => (await listed()).length === 2);
    expect(await listed()).toEqual([operation(second, 0, 'result'), operation(second, 1, 'result')]);
    await handle.cancel();
    await failureOf(handle);
    expect(await listed()).toEqual([]);
  });

  it('reads its open operations ever less often', async ({
    server,
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [batch] = addBatches(1);
    const handle = await startGroup();
    await untilOpened();

    await server.sleep('21 days');
    const refreshes = batches.calls.filter((call) => call === 'getGroupProgress').length;
    expect(refreshes).toBeGreaterThan(20);
    expect(refreshes).toBeLessThan(60);
    await report(batch, 'succeeded');
    await handle.result();
    expect((await countEvents(handle)).total).toBeLessThan(500);
  });

  it('fails when a computer fails, after all others have ended', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second] = addBatches(1, 1);
    const handle = await startGroup();
    await untilOpened();

    await report(first, 'failed');
    await until(async () => !(await isRunning(server.client, first)));
    expect(await statusOf(server.client, handle.workflowId)).toBe('RUNNING');
    await report(second, 'succeeded');
    const failure = await failureOf(handle);
    expect(failure).toMatchObject({ type: 'AgentFailure', category: 'BENIGN' });
  });

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
    await until(async () => !(await isRunning(server.client, first)));
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

  it('waits by its rows for a batch that another workflow drives already', async ({
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
    driveElsewhere,
  }) => {
    const [first, second] = addBatches(1, 1);
    await driveElsewhere(first);
    const handle = await startGroup();
    await untilOpened();

    await report(second, 'succeeded');
    await until(() => batches.calls.includes('getGroupProgress'));
    await report(first, 'succeeded');
    expect(await handle.result()).toEqual({ succeeded: 2, failed: 0, canceled: 0 });
  });

  it('starts when the database is available again', async ({ batches, addBatches, startGroup }) => {
    const [batch] = addBatches(1);
    batches.failures = 4;
    const handle = await startGroup();

    batches.report(batch, 0, 'succeeded');
    expect(await handle.result()).toMatchObject({ succeeded: 1 });
  });
});
