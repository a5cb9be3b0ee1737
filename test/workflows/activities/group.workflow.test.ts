import type { Client, WorkflowHandle } from '@temporalio/client';
import { CancelledFailure, type SearchAttributePair } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { describe, expect } from 'vitest';
import type { OpenOperation } from '../../../workflows/contracts/activities.ts';
import type { GroupInput, OperationCounts } from '../../../workflows/contracts/activity.contract.ts';
import { OPERATIONS_QUERY } from '../../../workflows/contracts/queries.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import { groupWorkflow, OPERATION_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { FakeBatches } from '../../support/activities/fakes.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import {
  countEvents,
  failureOf,
  statusOf,
  until,
  wakeUp,
  withWorker,
} from '../../support/temporal/workflow-environment.ts';

type Group = (input: GroupInput) => Promise<OperationCounts>;
interface Context {
  batches: FakeBatches;
  client: Client;
  taskQueue: string;
  /** Ids of the batches. */
  ids: number[];
  start: () => Promise<WorkflowHandle<Group>>;
  /** Reports the first row of a batch and wakes it. */
  report: (batch: number, outcome: 'succeeded' | 'failed' | 'canceled') => Promise<void>;
}

let nextId = 1000;

async function withGroup(
  server: TestWorkflowEnvironment,
  sizes: readonly number[],
  run: (context: Context) => Promise<void>,
): Promise<void> {
  const batches = new FakeBatches();
  batches.now = () => server.currentTimeMs();
  const group = nextId++;
  const ids = sizes.map(() => nextId++);
  for (const [place, id] of ids.entries()) batches.add(id, sizes[place]!);
  const { client } = server;
  const setup = {
    connection: server.nativeConnection,
    activities: batches.activities(client, ids),
  };
  const attributes: SearchAttributePair[] = [{ key: SEARCH_ATTRIBUTES.accountId, value: '1' }];
  await withWorker(setup, async (taskQueue) => {
    const start = () =>
      client.workflow.start<Group>(groupWorkflow('InstallSnaps'), {
        taskQueue,
        workflowId: `activity/${group}`,
        args: [{ id: group }],
        typedSearchAttributes: attributes,
      });
    const report: Context['report'] = async (batch, outcome) => {
      batches.report(batch, 0, outcome);
      await wakeUp(client, `activity/${batch}`);
    };
    await run({ batches, client, taskQueue, ids, start, report });
  });
}

const running = async (client: Client, id: number) =>
  (await statusOf(client, `activity/${id}`).catch(() => 'missing')) === 'RUNNING';
const opened = ({ batches, ids }: Context) =>
  batches.calls.filter((call) => call === 'queueMessage' || call === 'processPendingEvents').length >= ids.length;
const detailsOf = async (handle: WorkflowHandle<Group>) =>
  (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
/** As after a repair: the batch is no child of its group's workflow. */
const driveElsewhere = ({ client, taskQueue }: Context, batch: number) =>
  client.workflow.start(OPERATION_WORKFLOW, {
    taskQueue,
    workflowId: `activity/${batch}`,
    args: [{ batch, single: true }],
  });

describe('activity', () => {
  it('runs a batch per plan as visible children and completes with their counts', ({ server }) =>
    withGroup(server, [1, 1, 1], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      const description = await context.client.workflow.getHandle(`activity/${context.ids[0]}`).describe();
      expect(description.parentExecution?.workflowId).toBe(handle.workflowId);
      expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.accountId)).toBe('1');
      expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.computerId)).toBe(String(context.ids[0]));
      expect(`activity/${description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.groupId)}`).toBe(handle.workflowId);
      for (const batch of context.ids) await context.report(batch, 'succeeded');
      expect(await handle.result()).toEqual({ succeeded: 3, failed: 0, canceled: 0 });
      const events = await countEvents(handle);
      const tasks = events.of('workflowTaskScheduled');
      expect(events.total - tasks * 3).toBe(15);
      // One at the start, and one for each batch that starts and each that ends; what comes together shares one.
      expect(tasks).toBeLessThanOrEqual(7);
    }));

  it('counts computers, whatever they have to do, and names batches of many with theirs', ({ server }) =>
    withGroup(server, [3, 20, 20, 20], async (context) => {
      const { batches, ids } = context;
      const [first, ...others] = ids as [number, ...number[]];
      batches.add(first, 3, { single: true, computers: 1, computer: { id: first, title: `web-${first}` } });
      for (const [place, batch] of others.entries()) batches.add(batch, 20, { summary: `computers of batch ${place}` });
      const handle = await context.start();
      await until(() => opened(context));
      expect(await detailsOf(handle)).toBe(
        `0 of 61 computers done; waiting for web-${first}, computers of batch 0, computers of batch 1 and 20 more`,
      );
      await handle.cancel();
      await failureOf(handle);
    }));

  it('does not count a batch as done that another workflow drives', ({ server }) =>
    withGroup(server, [1, 1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      await driveElsewhere(context, first);
      const handle = await context.start();
      await until(() => opened(context));
      await until(async () => (await detailsOf(handle)).startsWith(`0 of 3 computers done; waiting for web-${first}`));
      for (const batch of context.ids.slice(1)) await context.report(batch, 'succeeded');
      await until(async () => (await detailsOf(handle)) === '2 of 3 computers done');
      expect(await running(context.client, second)).toBe(false);
      await context.report(first, 'succeeded');
      await handle.result();
    }));

  it('shows operators how many are done and who is missing', ({ server }) =>
    withGroup(server, [1, 1, 1], async (context) => {
      const [first, second, third] = context.ids as [number, number, number];
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(first, 'succeeded');
      await until(
        async () => (await detailsOf(handle)) === `1 of 3 computers done; waiting for web-${second}, web-${third}`,
      );
      await context.report(second, 'succeeded');
      await context.report(third, 'succeeded');
      await handle.result();
    }));

  it('lists the open operations of all computers and what each waits for, read again as time passes', ({ server }) =>
    withGroup(server, [1, 2], async (context) => {
      const [first, second] = context.ids as [number, number];
      const handle = await context.start();
      const listed = () => handle.query<OpenOperation[]>(OPERATIONS_QUERY);
      const operation = (batch: number, row: number, waitsFor: OpenOperation['waitsFor']) => ({
        computer: `web-${row}`,
        operation: row,
        waitsFor,
        workflowId: `activity/${batch}`,
      });
      await until(() => opened(context));
      expect(await listed()).toEqual([
        operation(first, 0, 'delivery'),
        operation(second, 0, 'delivery'),
        operation(second, 1, 'delivery'),
      ]);
      await server.sleep('20 s');
      await until(() => context.batches.calls.includes('getGroupProgress'));
      await until(async () => (await listed())[0]?.waitsFor === 'result');
      await context.report(first, 'succeeded');
      await until(async () => (await listed()).length === 2);
      expect(await listed()).toEqual([operation(second, 0, 'result'), operation(second, 1, 'result')]);
      await handle.cancel();
      await failureOf(handle);
      expect(await listed()).toEqual([]);
    }));

  it('reads its open operations ever less often', ({ server }) =>
    withGroup(server, [1], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      await server.sleep('21 days');
      const refreshes = context.batches.calls.filter((call) => call === 'getGroupProgress').length;
      expect(refreshes).toBeGreaterThan(20);
      expect(refreshes).toBeLessThan(60);
      await context.report(context.ids[0]!, 'succeeded');
      await handle.result();
      expect((await countEvents(handle)).total).toBeLessThan(500);
    }));

  it('fails when a computer fails, after all others have ended', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(first, 'failed');
      await until(async () => !(await running(context.client, first)));
      expect(await statusOf(context.client, handle.workflowId)).toBe('RUNNING');
      await context.report(second, 'succeeded');
      const failure = await failureOf(handle);
      expect(failure).toMatchObject({ type: 'AgentFailure', category: 'BENIGN' });
    }));

  it('passes a cancel on to its batches and closes as Canceled when nothing was done', ({ server }) =>
    withGroup(server, [1, 20], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const batch of context.ids) {
        expect(await statusOf(context.client, `activity/${batch}`)).toBe('CANCELLED');
        expect(context.batches.progress(batch).open).toBe(0);
      }
    }));

  it('passes a cancel on to batches that another workflow drives, whatever its own batches do', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      await driveElsewhere(context, context.ids[0]!);
      const handle = await context.start();
      await until(() => opened(context));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const batch of context.ids) expect(await statusOf(context.client, `activity/${batch}`)).toBe('CANCELLED');
    }));

  it('cancels its batches when it waits for none of its own', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      for (const batch of context.ids) await driveElsewhere(context, batch);
      const handle = await context.start();
      await until(() => context.batches.calls.includes('getGroupProgress'));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const batch of context.ids) expect(await statusOf(context.client, `activity/${batch}`)).toBe('CANCELLED');
    }));

  it('closes as Canceled when it was canceled half way, as its row does', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(first, 'succeeded');
      await until(async () => !(await running(context.client, first)));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(context.client, `activity/${second}`)).toBe('CANCELLED');
    }));

  it('closes as Canceled when one computer was canceled by itself and the others succeeded', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(first, 'succeeded');
      await context.report(second, 'canceled');
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(context.client, `activity/${first}`)).toBe('COMPLETED');
      expect(await statusOf(context.client, `activity/${second}`)).toBe('CANCELLED');
    }));

  it('closes as Canceled when every computer was canceled by itself', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      for (const batch of context.ids) await context.report(batch, 'canceled');
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(context.client, handle.workflowId)).toBe('CANCELLED');
      expect(context.batches.calls.filter((call) => call === 'cancelRun')).toHaveLength(3);
    }));

  it('updates batches that were never started when canceled before its first activity', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      context.batches.failures = 2;
      const handle = await context.start();
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const batch of context.ids) expect(context.batches.progress(batch)).toMatchObject({ open: 0, canceled: 1 });
    }));

  it('waits by its rows for a batch that another workflow drives already', ({ server }) =>
    withGroup(server, [1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      await driveElsewhere(context, first);
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(second, 'succeeded');
      await until(() => context.batches.calls.includes('getGroupProgress'));
      await context.report(first, 'succeeded');
      expect(await handle.result()).toEqual({ succeeded: 2, failed: 0, canceled: 0 });
    }));

  it('starts when the database is available again', ({ server }) =>
    withGroup(server, [1], async (context) => {
      context.batches.failures = 4;
      const handle = await context.start();
      context.batches.report(context.ids[0]!, 0, 'succeeded');
      expect(await handle.result()).toMatchObject({ succeeded: 1 });
    }));
});
