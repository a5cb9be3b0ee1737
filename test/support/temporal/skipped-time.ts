import proto from '@temporalio/proto';
import { TestWorkflowEnvironment, type TimeSkippingTestWorkflowEnvironmentOptions } from '@temporalio/testing';
import type { Clock } from '../../../src/services/common/ports.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import { runService } from '../stack/run-service.ts';
import { quietRuntime, TEST_DATA_CONVERTER } from './workflow-environment.ts';

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

/** Shows the time that a time-skipping server's clock showed when it was last read. */
export class SkippedClock implements Clock {
  readonly #server: () => TestWorkflowEnvironment;
  #now = 0;

  constructor(server: () => TestWorkflowEnvironment) {
    this.#server = server;
  }

  now(): Date {
    return new Date(this.#now);
  }

  /** Reads the server's clock. @returns milliseconds since the epoch */
  async read(): Promise<number> {
    this.#now = await this.#server().currentTimeMs();
    return this.#now;
  }
}
