import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { Clock } from '../../../src/services/common/ports.ts';
import { addSearchAttributes, createTimeSkippingEnvironment } from './temporal.ts';
import { quietRuntime, TEST_DATA_CONVERTER } from './workflow-environment.ts';

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
