import { randomInt } from 'node:crypto';
import type { SearchAttributePair } from '@temporalio/common';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment, type TimeSkippingTestWorkflowEnvironmentOptions } from '@temporalio/testing';
import { it as base } from 'vitest';
import type { BatchInput, GroupInput, OperationCounts } from '../../../workflows/contracts/activity.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import { batchWorkflow, groupWorkflow, OPERATION_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { FakeBatches } from '../activities/fakes.ts';
import { runService } from '../common/process.ts';
import { quietRuntime, startWorker, TEST_DATA_CONVERTER, until, wakeUp, workflowCode } from './workflow-environment.ts';

// Importing this waits for the program: the first run of a machine may download it, which no time limit of a hook allows for.
const { path } = await runService<{ path: string }>('temporal-test-server');

/**
 * The SDK's environment on a server that skips time while a result is awaited. One per test file; `teardown` at its end.
 * It has no schedules, visibility or resets: test those on the dev server.
 */
export async function createTimeSkippingEnvironment(
  options: Omit<TimeSkippingTestWorkflowEnvironmentOptions, 'server'> = {},
): Promise<TestWorkflowEnvironment> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        ...options,
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      // The SDK gives a server five seconds, whatever the machine is busy with.
      if (tries === START_TRIES || !String(error).includes('did not start within')) throw error;
    }
  }
}

const START_TRIES = 10;

/** Registers the search attributes that groups give to their batches, which the skipping server does not know. */
export async function addSearchAttributes(environment: TestWorkflowEnvironment): Promise<void> {
  const keyword = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map(({ name }) => [name, keyword])),
  });
}

/** A time-skipping server that takes the product's payloads and search attributes. */
export async function createSkippedServer(): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  const environment = await createTimeSkippingEnvironment({ client: { dataConverter: TEST_DATA_CONVERTER } });
  await addSearchAttributes(environment);
  return environment;
}

/** `it` with `server`: one for the test file, which skips time while a result is awaited and in `server.sleep`. */
export const it = base.extend(
  'server',
  { scope: 'file' },
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
  async ({}, { onCleanup }) => {
    const server = await createSkippedServer();
    onCleanup(() => server.teardown());
    return server;
  },
);

/**
 * `it` for the workflow of one batch, whose Temporal activities are played by `batches` in memory, on a worker with the
 * product's workflow code: add the rows of `batch`, `start` its workflow, report results and `wakeUp`. `siblings` are
 * the batches of its group, if a test has one.
 */
export const itWithBatch = it
  .extend('code', workflowCode)
  .extend('batch', () => randomInt(1, 2 ** 31))
  .extend('batches', ({ server }) => {
    const batches = new FakeBatches();
    batches.now = () => server.currentTimeMs();
    return batches;
  })
  .extend('siblings', (): number[] => [])
  .extend('taskQueue', async ({ server, batches, siblings, code }, { onCleanup }) => {
    const { nativeConnection: connection, client } = server;
    const worker = await startWorker({ connection, activities: batches.activities(client, siblings), code });
    onCleanup(worker.stop);
    return worker.taskQueue;
  })
  .extend('start', ({ server, batches, batch, taskQueue }) => (input: Partial<BatchInput> = {}) => {
    const { single = batches.progress(batch).open === 1 } = input;
    return server.client.workflow.start<(input: BatchInput) => Promise<OperationCounts>>(batchWorkflow(single), {
      taskQueue,
      workflowId: `activity/${batch}`,
      args: [{ batch, single, ...input }],
    });
  })
  .extend(
    'wakeUp',
    ({ server, batch }) =>
      () =>
        wakeUp(server.client, `activity/${batch}`),
  );

/**
 * `it` for the workflow of a group: `addBatches` adds its batches by their numbers of rows, `startGroup` starts its
 * workflow, `untilOpened` waits for the first step of each batch, and `report` ends the first row of one.
 */
export const itWithGroup = itWithBatch
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
    return server.client.workflow.start<(input: GroupInput) => Promise<OperationCounts>>(
      groupWorkflow('InstallSnaps'),
      {
        taskQueue,
        workflowId: `activity/${group}`,
        args: [{ id: group }],
        typedSearchAttributes: attributes,
      },
    );
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
