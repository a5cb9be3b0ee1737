import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { runService } from '../common/process.ts';

/**
 * Address (`host:port`) of the run's Temporal server: a real one, in memory, with schedules and visibility. Importing this
 * waits for it: the first run of a machine may build it, which no time limit of a hook allows for.
 */
export const { address: SERVER_ADDRESS } = await runService<{ address: string }>('temporal-server');

export interface TestNamespace {
  /** `host:port`, as in FLOTILLA_TEMPORAL_ADDRESS. */
  address: string;
  namespace: string;
}

/**
 * A namespace of its own on the run's Temporal server, ready to use. Search attributes are not registered: tests call
 * the bootstrap that production calls. Nothing has to be removed; the server ends with the run.
 */
export async function createTestNamespace(): Promise<TestNamespace> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address: SERVER_ADDRESS });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    await untilUsable(connection, namespace);
  } finally {
    await connection.close();
  }
  return { address: SERVER_ADDRESS, namespace };
}

/** The server's parts learn of a new namespace one after the other; starting a workflow needs all of them. */
async function untilUsable(connection: Connection, namespace: string): Promise<void> {
  const end = performance.now() + 20_000;
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace });
      await connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: 'probe' }, taskQueueType: 1 });
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
