import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment, type TimeSkippingTestWorkflowEnvironmentOptions } from '@temporalio/testing';
import { inject } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';

/** Makes the run's service on its first use and answers what it tells. */
async function runService<T>(name: string): Promise<T> {
  const response = await fetch(`${inject('runServicesUrl')}/${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

/** Address (`host:port`) of the run's Temporal server: the real one of the CLI, in memory, with schedules and visibility. */
export async function devServerAddress(): Promise<string> {
  return (await runService<{ address: string }>('temporal-dev-server')).address;
}

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
  const address = await devServerAddress();
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    await untilUsable(connection, namespace);
  } finally {
    await connection.close();
  }
  return { address, namespace };
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

/**
 * The SDK's environment on a server that skips time while a result is awaited. One per test file; `teardown` at its end.
 * It has no schedules, visibility or resets: test those on the dev server.
 */
export async function createTimeSkippingEnvironment(
  options: Omit<TimeSkippingTestWorkflowEnvironmentOptions, 'server'> = {},
): Promise<TestWorkflowEnvironment> {
  const { path } = await runService<{ path: string }>('temporal-test-server');
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
