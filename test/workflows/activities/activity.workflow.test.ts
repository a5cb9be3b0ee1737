import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { CancelledFailure, type SearchAttributePair } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityInput, ActivityResult } from '../../../workflows/contracts/activity.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import { groupWorkflow, OPERATION_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { FakeLanes } from '../../support/activities/fake-lanes.ts';
import { addSearchAttributes, createTimeSkippingEnvironment } from '../../support/temporal/temporal.ts';
import {
  countEvents,
  nudge,
  quietRuntime,
  statusOf,
  TEST_DATA_CONVERTER,
  until,
  withWorker,
} from '../../support/temporal/workflow-environment.ts';

type Group = (input: ActivityInput) => Promise<ActivityResult>;
interface Context {
  lanes: FakeLanes;
  client: Client;
  taskQueue: string;
  /** Ids of the lanes. */
  ids: number[];
  start: () => Promise<WorkflowHandle<Group>>;
  /** Reports the first row of a lane and nudges it. */
  report: (lane: number, outcome: 'succeeded' | 'failed' | 'canceled') => Promise<void>;
}

let environment: TestWorkflowEnvironment;
let nextId = 1000;

beforeAll(async () => {
  quietRuntime();
  environment = await createTimeSkippingEnvironment({ client: { dataConverter: TEST_DATA_CONVERTER } });
  await addSearchAttributes(environment);
});

afterAll(async () => {
  await environment?.teardown();
});

async function withGroup(sizes: readonly number[], run: (context: Context) => Promise<void>): Promise<void> {
  const lanes = new FakeLanes();
  lanes.now = () => environment.currentTimeMs();
  const group = nextId++;
  const ids = sizes.map(() => nextId++);
  for (const [place, id] of ids.entries()) lanes.add(id, sizes[place]!);
  const { client } = environment;
  const setup = {
    connection: environment.nativeConnection,
    namespace: undefined,
    activities: lanes.activities(client, ids),
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
    const report: Context['report'] = async (lane, outcome) => {
      lanes.tell(lane, 0, outcome);
      await nudge(client, `activity/${lane}`);
    };
    await run({ lanes, client, taskQueue, ids, start, report });
  });
}

const running = async (client: Client, id: number) =>
  (await statusOf(client, `activity/${id}`).catch(() => 'missing')) === 'RUNNING';
const opened = ({ lanes, ids }: Context) =>
  lanes.calls.filter((call) => call === 'processPendingEvents').length >= ids.length;
const detailsOf = async (handle: WorkflowHandle<Group>) =>
  (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
/** As after a repair: the lane is no child of its group's workflow. */
const driveElsewhere = ({ client, taskQueue }: Context, lane: number) =>
  client.workflow.start(OPERATION_WORKFLOW, {
    taskQueue,
    workflowId: `activity/${lane}`,
    args: [{ lane, single: true }],
  });
const failureOf = (handle: WorkflowHandle<Group>) =>
  handle.result().then(
    () => null,
    (error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error),
  );

describe('activity', () => {
  it('runs a lane per plan as visible children and completes with their counts', () =>
    withGroup([1, 1, 1], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      const description = await context.client.workflow.getHandle(`activity/${context.ids[0]}`).describe();
      expect(description.parentExecution?.workflowId).toBe(handle.workflowId);
      expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.accountId)).toBe('1');
      expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.computerId)).toBe(String(context.ids[0]));
      expect(`activity/${description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.groupId)}`).toBe(handle.workflowId);
      for (const lane of context.ids) await context.report(lane, 'succeeded');
      expect(await handle.result()).toEqual({ succeeded: 3, failed: 0, canceled: 0 });
      const events = await countEvents(handle);
      const tasks = events.of('workflowTaskScheduled');
      expect(events.total - tasks * 3).toBe(13);
      // One at the start, and one for each lane that begins and each that ends; what comes together shares one.
      expect(tasks).toBeLessThanOrEqual(7);
    }));

  it('counts computers, whatever they have to do, and names lanes of many with theirs', () =>
    withGroup([3, 20, 20, 20], async (context) => {
      const { lanes, ids } = context;
      const [first, ...others] = ids as [number, ...number[]];
      lanes.add(first, 3, { single: true, computers: 1, computer: { id: first, title: `web-${first}` } });
      for (const [place, lane] of others.entries()) lanes.add(lane, 20, { summary: `computers of lane ${place}` });
      const handle = await context.start();
      await until(() => opened(context));
      expect(await detailsOf(handle)).toBe(
        `0 of 61 computers done; waiting for web-${first}, computers of lane 0, computers of lane 1 and 20 more`,
      );
      await handle.cancel();
      await failureOf(handle);
    }));

  it('takes no lane for done that another workflow drives', () =>
    withGroup([1, 1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      await driveElsewhere(context, first);
      const handle = await context.start();
      await until(() => opened(context));
      await until(async () => (await detailsOf(handle)).startsWith(`0 of 3 computers done; waiting for web-${first}`));
      for (const lane of context.ids.slice(1)) await context.report(lane, 'succeeded');
      await until(async () => (await detailsOf(handle)) === '2 of 3 computers done');
      expect(await running(context.client, second)).toBe(false);
      await context.report(first, 'succeeded');
      await handle.result();
    }));

  it('shows operators how many are done and who is missing', () =>
    withGroup([1, 1, 1], async (context) => {
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

  it('fails when a computer fails, after all others have ended', () =>
    withGroup([1, 1], async (context) => {
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

  it('passes a cancel on to its lanes and closes as Canceled when nothing was done', () =>
    withGroup([1, 20], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const lane of context.ids) {
        expect(await statusOf(context.client, `activity/${lane}`)).toBe('CANCELLED');
        expect(context.lanes.progress(lane).open).toBe(0);
      }
    }));

  it('passes a cancel on to lanes that another workflow drives, whatever its own lanes do', () =>
    withGroup([1, 1], async (context) => {
      await driveElsewhere(context, context.ids[0]!);
      const handle = await context.start();
      await until(() => opened(context));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const lane of context.ids) expect(await statusOf(context.client, `activity/${lane}`)).toBe('CANCELLED');
    }));

  it('passes a cancel on to lanes when it waits for none of its own', () =>
    withGroup([1, 1], async (context) => {
      for (const lane of context.ids) await driveElsewhere(context, lane);
      const handle = await context.start();
      await until(() => context.lanes.calls.includes('getGroupProgress'));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const lane of context.ids) expect(await statusOf(context.client, `activity/${lane}`)).toBe('CANCELLED');
    }));

  it('closes as Canceled when it was cancelled half way, as its row does', () =>
    withGroup([1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(first, 'succeeded');
      await until(async () => !(await running(context.client, first)));
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(context.client, `activity/${second}`)).toBe('CANCELLED');
    }));

  it('closes as Canceled when one computer was cancelled by itself and the others succeeded', () =>
    withGroup([1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(first, 'succeeded');
      await context.report(second, 'canceled');
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(context.client, `activity/${first}`)).toBe('COMPLETED');
      expect(await statusOf(context.client, `activity/${second}`)).toBe('CANCELLED');
    }));

  it('closes as Canceled when every computer was cancelled by itself', () =>
    withGroup([1, 1], async (context) => {
      const handle = await context.start();
      await until(() => opened(context));
      for (const lane of context.ids) await context.report(lane, 'canceled');
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(context.client, handle.workflowId)).toBe('CANCELLED');
      expect(context.lanes.calls.filter((call) => call === 'cancelRun')).toHaveLength(3);
    }));

  it('settles lanes that were never started when cancelled before its first step', () =>
    withGroup([1, 1], async (context) => {
      context.lanes.failures = 2;
      const handle = await context.start();
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      for (const lane of context.ids) expect(context.lanes.progress(lane)).toMatchObject({ open: 0, canceled: 1 });
    }));

  it('waits by its rows for a lane that another workflow drives already', () =>
    withGroup([1, 1], async (context) => {
      const [first, second] = context.ids as [number, number];
      await driveElsewhere(context, first);
      const handle = await context.start();
      await until(() => opened(context));
      await context.report(second, 'succeeded');
      await until(() => context.lanes.calls.includes('getGroupProgress'));
      await context.report(first, 'succeeded');
      expect(await handle.result()).toEqual({ succeeded: 2, failed: 0, canceled: 0 });
    }));

  it('begins when the database comes back', () =>
    withGroup([1], async (context) => {
      context.lanes.failures = 4;
      const handle = await context.start();
      context.lanes.tell(context.ids[0]!, 0, 'succeeded');
      expect(await handle.result()).toMatchObject({ succeeded: 1 });
    }));
});
