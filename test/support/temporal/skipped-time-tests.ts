import { randomInt } from 'node:crypto';
import { it as base } from 'vitest';
import type { BatchInput, OperationCounts } from '../../../workflows/contracts/activity.contract.ts';
import { batchWorkflow } from '../../../workflows/contracts/workflow-types.ts';
import { FakeBatches } from '../activities/fakes.ts';
import { createSkippedServer } from './skipped-time.ts';
import { startWorker, wakeUp, workflowCode } from './workflow-environment.ts';

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
 * product's workflow code: add the rows of `batch`, `start` its workflow, report results and `wakeUp`.
 */
export const itWithBatch = it
  .extend('code', workflowCode)
  .extend('batch', () => randomInt(1, 2 ** 31))
  .extend('batches', ({ server }) => {
    const batches = new FakeBatches();
    batches.now = () => server.currentTimeMs();
    return batches;
  })
  .extend('taskQueue', async ({ server, batches, code }, { onCleanup }) => {
    const { nativeConnection: connection, client } = server;
    const worker = await startWorker({ connection, activities: batches.activities(client), code });
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
