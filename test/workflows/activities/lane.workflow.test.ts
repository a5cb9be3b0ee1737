import {
  type Client,
  WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAILURE_TYPES } from '../../../workflows/contracts/failures.ts';
import { type LaneInput, type LaneResult, NUDGE_SIGNAL } from '../../../workflows/contracts/lane.contract.ts';
import { OPERATIONS_QUERY, PROGRESS_QUERY } from '../../../workflows/contracts/queries.ts';
import { batchWorkflow } from '../../../workflows/contracts/workflow-types.ts';
import { FakeLanes } from '../../support/activities/fake-lanes.ts';
import { createTimeSkippingEnvironment } from '../../support/temporal/temporal.ts';
import {
  countEvents,
  nudge,
  quietRuntime,
  statusOf,
  TEST_DATA_CONVERTER,
  until,
  withWorker,
} from '../../support/temporal/workflow-environment.ts';

type Lane = (input: LaneInput) => Promise<LaneResult>;
type Run = (context: {
  lanes: FakeLanes;
  client: Client;
  start: Start;
  nudge: (id: number) => Promise<void>;
}) => Promise<void>;
type Start = (lane: number, input?: Partial<LaneInput>) => Promise<WorkflowHandleWithFirstExecutionRunId<Lane>>;

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
let environment: TestWorkflowEnvironment;
let nextLane = 1;

beforeAll(async () => {
  quietRuntime();
  environment = await createTimeSkippingEnvironment({ client: { dataConverter: TEST_DATA_CONVERTER } });
});

afterAll(async () => {
  await environment?.teardown();
});

async function withLanes(run: Run): Promise<void> {
  const lanes = new FakeLanes();
  lanes.now = () => environment.currentTimeMs();
  const { client } = environment;
  const setup = {
    connection: environment.nativeConnection,
    namespace: undefined,
    activities: lanes.activities(client),
  };
  await withWorker(setup, async (taskQueue) => {
    const start: Start = (lane, input = {}) => {
      const { single = lanes.progress(lane).open === 1 } = input;
      const args: [LaneInput] = [{ lane, single, ...input }];
      return client.workflow.start<Lane>(batchWorkflow(single), { taskQueue, workflowId: `activity/${lane}`, args });
    };
    await run({ lanes, client, start, nudge: (id) => nudge(client, `activity/${id}`) });
  });
}

const advances = (lanes: FakeLanes) => lanes.calls.filter((call) => call === 'processPendingEvents').length;
const failureOf = (handle: WorkflowHandle<Lane>) =>
  handle.result().then(
    () => null,
    (error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error),
  );

describe('lane of one computer', () => {
  it('waits for weeks without an event and completes with the result', () =>
    withLanes(async ({ lanes, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      const handle = await start(lane);
      await until(() => advances(lanes) === 1);
      await environment.sleep(22 * DAY_MS);
      expect(advances(lanes)).toBe(1);
      lanes.tell(lane, 0, 'succeeded');
      await nudge(lane);
      expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
      expect((await countEvents(handle)).total).toBe(11);
    }));

  it('fails when the computer fails', () =>
    withLanes(async ({ lanes, client, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      const handle = await start(lane);
      lanes.tell(lane, 0, 'failed');
      await nudge(lane);
      const failure = await failureOf(handle);
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({ type: 'AgentFailure', category: 'BENIGN' });
      expect(await statusOf(client, handle.workflowId)).toBe('FAILED');
    }));

  it('looks again at the moment that advance named, with one timer however often it is nudged', () =>
    withLanes(async ({ lanes, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      lanes.due(lane, (await environment.currentTimeMs()) + 30 * DAY_MS, 'failed');
      const handle = await start(lane);
      for (let round = 2; round <= 4; round += 1) {
        await until(() => advances(lanes) === round - 1);
        await nudge(lane);
      }
      expect(await failureOf(handle)).toBeInstanceOf(ApplicationFailure);
      const events = await countEvents(handle);
      expect(events.of('timerStarted')).toBe(1);
      expect(events.of('timerCanceled')).toBe(0);
      expect(events.of('timerFired')).toBe(1);
    }));

  it.each<[string, Partial<LaneInput>]>([
    ['in one run', {}],
    ['over many runs', { continueAfterEvents: 20 }],
  ])('looks ever more seldom for a moment that the clock of the rows has not reached, %s', (_, input) =>
    withLanes(async ({ lanes, start }) => {
      const lane = nextLane++;
      const dueAt = await environment.currentTimeMs();
      lanes.add(lane, 1);
      let lookedAt = 0;
      lanes.now = async () => {
        lookedAt = await environment.currentTimeMs();
        return lookedAt - HOUR_MS;
      };
      lanes.due(lane, dueAt, 'failed');
      const handle = await start(lane, input);
      expect(await failureOf(handle)).toBeInstanceOf(ApplicationFailure);
      expect(advances(lanes)).toBeLessThanOrEqual(150);
      expect(lookedAt - dueAt).toBeLessThan(HOUR_MS + 120_000);
    }),
  );

  it('closes as Canceled when cancelled before delivery', () =>
    withLanes(async ({ lanes, client, start }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      const handle = await start(lane);
      await until(() => advances(lanes) === 1);
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(client, handle.workflowId)).toBe('CANCELLED');
      expect(lanes.progress(lane)).toMatchObject({ open: 0, canceled: 1 });
      expect(lanes.calls).not.toContain('cancelRun');
      expect((await countEvents(handle)).total).toBe(11);
    }));

  it('settles its rows when cancelled before its first step', () =>
    withLanes(async ({ lanes, client, start }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      lanes.failures = 2;
      const handle = await start(lane);
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(client, handle.workflowId)).toBe('CANCELLED');
      expect(lanes.progress(lane)).toMatchObject({ open: 0, canceled: 1 });
    }));

  it('closes as Canceled when only its row was cancelled', () =>
    withLanes(async ({ lanes, client, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      const handle = await start(lane);
      lanes.tell(lane, 0, 'canceled');
      await nudge(lane);
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(client, handle.workflowId)).toBe('CANCELLED');
      expect(lanes.calls.filter((call) => call === 'cancelRun')).toHaveLength(1);
    }));

  it('completes when the result was there before the cancel', () =>
    withLanes(async ({ lanes, start }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      const handle = await start(lane);
      await until(() => advances(lanes) === 1);
      lanes.tell(lane, 0, 'succeeded');
      await handle.cancel();
      expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
    }));

  it('takes a late and a doubled result for what they are: no change', () =>
    withLanes(async ({ lanes, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      const handle = await start(lane);
      lanes.tell(lane, 0, 'succeeded');
      lanes.tell(lane, 0, 'failed');
      await nudge(lane);
      await nudge(lane);
      expect(await handle.result()).toEqual({ succeeded: 1, failed: 0, canceled: 0 });
      await expect(handle.signal(NUDGE_SIGNAL)).rejects.toThrow(WorkflowNotFoundError);
    }));

  it('goes on with a retrying Temporal activity when the database is away', () =>
    withLanes(async ({ lanes, start }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      lanes.tell(lane, 0, 'succeeded');
      lanes.failures = 5;
      const handle = await start(lane);
      expect(await handle.result()).toMatchObject({ succeeded: 1 });
      expect(advances(lanes)).toBe(6);
      const events = await countEvents(handle);
      expect(events.of('activityTaskScheduled')).toBe(1);
      expect(events.total).toBeLessThanOrEqual(17);
    }));

  it('fails with a name, and is not tried again, where that would change nothing', () =>
    withLanes(async ({ lanes, start }) => {
      const lane = nextLane++;
      lanes.add(lane, 1);
      lanes.failures = Number.POSITIVE_INFINITY;
      lanes.failure = ApplicationFailure.nonRetryable('rows is not iterable', FAILURE_TYPES.defect);
      const handle = await start(lane);
      const failure = await failureOf(handle);
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({ type: FAILURE_TYPES.defect, message: 'rows is not iterable' });
      expect(advances(lanes)).toBe(1);
    }));

  it('shows operators what it waits for', () =>
    withLanes(async ({ lanes, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 10);
      const handle = await start(lane, { single: false });
      for (let row = 0; row < 8; row += 1) lanes.tell(lane, row, 'succeeded');
      await nudge(lane);
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
    }));
});

describe('lane of a chain on one computer', () => {
  it.each([
    ['succeeded', 'canceled', 'CANCELLED'],
    ['succeeded', 'failed', 'FAILED'],
    ['failed', 'canceled', 'FAILED'],
    ['canceled', 'canceled', 'CANCELLED'],
    ['succeeded', 'succeeded', 'COMPLETED'],
  ] as const)('of which one step %s and one %s closes as %s', (one, other, status) =>
    withLanes(async ({ lanes, client, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 2);
      const handle = await start(lane, { single: true });
      lanes.tell(lane, 0, one);
      lanes.tell(lane, 1, other);
      await nudge(lane);
      await handle.result().catch(() => undefined);
      expect(await statusOf(client, handle.workflowId)).toBe(status);
    }),
  );
});

describe('lane of many computers', () => {
  it('takes 500 results in few steps, empty and doubled nudges included', () =>
    withLanes(async ({ lanes, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 500);
      const handle = await start(lane);
      for (let row = 0; row < 500; row += 50) {
        for (let offset = 0; offset < 50; offset += 1)
          lanes.tell(lane, row + offset, offset === 0 ? 'failed' : 'succeeded');
        await nudge(lane);
        await nudge(lane);
      }
      expect(await handle.result()).toEqual({ succeeded: 490, failed: 10, canceled: 0 });
      expect((await countEvents(handle)).total).toBeLessThanOrEqual(100);
    }));

  it('continues as new when its history is long, and loses nothing', () =>
    withLanes(async ({ lanes, client, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 30);
      const first = await start(lane, { continueAfterEvents: 20 });
      for (let row = 0; row < 30; row += 1) {
        lanes.tell(lane, row, 'succeeded');
        await nudge(lane);
        await until(() => lanes.progress(lane).succeeded === row + 1);
      }
      expect(await first.result()).toEqual({ succeeded: 30, failed: 0, canceled: 0 });
      const firstRun = await countEvents(client.workflow.getHandle(first.workflowId, first.firstExecutionRunId));
      expect(firstRun.of('workflowExecutionContinuedAsNew')).toBe(1);
      // It goes on while news waits, so a slow machine adds some; all 30 nudges in one run would be over 120.
      expect(firstRun.total).toBeLessThanOrEqual(60);
    }));

  it('closes as Canceled when cancelled, and counts what was done before', () =>
    withLanes(async ({ lanes, client, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 20);
      const handle = await start(lane);
      for (let row = 0; row < 5; row += 1) lanes.tell(lane, row, 'succeeded');
      await nudge(lane);
      await until(() => lanes.progress(lane).succeeded === 5);
      await handle.cancel();
      expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
      expect(await statusOf(client, handle.workflowId)).toBe('CANCELLED');
      expect(lanes.progress(lane)).toMatchObject({ open: 0, succeeded: 5, canceled: 15 });
    }));

  it('completes with counts when single rows were cancelled or failed', () =>
    withLanes(async ({ lanes, start, nudge }) => {
      const lane = nextLane++;
      lanes.add(lane, 3);
      const handle = await start(lane);
      lanes.tell(lane, 0, 'canceled');
      lanes.tell(lane, 1, 'failed');
      lanes.tell(lane, 2, 'succeeded');
      await nudge(lane);
      expect(await handle.result()).toEqual({ succeeded: 1, failed: 1, canceled: 1 });
    }));
});
