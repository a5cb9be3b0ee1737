import { join } from 'node:path';
import { createLogger } from '../../src/process/logger.ts';
import type { FaultShares } from '../simulator/computer-options.ts';
import { readExecutionLog } from '../simulator/execution-log.ts';
import { createFleet, type Fleet } from '../simulator/fleet.ts';
import type { Executions } from './delivery-order.ts';
import type { TestStack } from './stack.ts';

/** Share of the fleet's pattern of 25 computers that takes snaps; the Windows hosts do not. */
const TAKE_SNAPS = 23 / 25;

/**
 * Simulated computers in the test's own process: like real ones they outlive any fault of the server. The stack's
 * directory holds their identities and execution log, so that one fleet can continue another.
 */
export class FleetBeside {
  readonly #stack: TestStack;
  readonly #computers: number;
  readonly #violations: Fleet['violations'][] = [];
  #fleet: Fleet;

  /** @param takingSnaps - minimum number of computers that can install snaps */
  constructor(stack: TestStack, takingSnaps: number) {
    this.#stack = stack;
    this.#computers = Math.ceil(takingSnaps / TAKE_SNAPS) + 2;
    this.#fleet = this.#create({});
  }

  /** Enrols all computers. @returns the ids of those that take snaps */
  async start(limitMs: number): Promise<number[]> {
    await this.#fleet.start();
    await this.#fleet.settled(limitMs);
    const able = this.#fleet.computers.filter((computer) => computer.machine.blueprint.catalogue !== null);
    return able.map((computer) => computer.computerId).filter((id) => id !== null);
  }

  async restart(shares: Partial<FaultShares>): Promise<void> {
    await this.#fleet.stop();
    this.#fleet = this.#create(shares);
    await this.#fleet.start();
  }

  async stop(): Promise<void> {
    await this.#fleet.stop();
  }

  /** Behaviour of the server that no agent accepts, towards this fleet and earlier ones. */
  get violations(): string[] {
    return this.#violations.flatMap((counts) => [...counts].map(([text, count]) => `${count} times: ${text}`));
  }

  executions(): Executions {
    return readExecutions(this.#executionLogFile);
  }

  get #executionLogFile(): string {
    return join(this.#stack.root, 'beside', 'execution-log.jsonl');
  }

  #create(shares: Partial<FaultShares>): Fleet {
    const fleet = createFleet({
      computers: this.#computers,
      url: this.#stack.url,
      logger: createLogger({ level: 'silent', role: 'fleet' }),
      stateFile: join(this.#stack.root, 'beside', 'fleet.jsonl'),
      executionLogFile: this.#executionLogFile,
      // Operations are long enough for faults to hit before, during and after them.
      times: { pingMs: 1500, urgentMs: 500, operationMs: 1500, retryMs: 500 },
      shares,
    });
    this.#violations.push(fleet.violations);
    return fleet;
  }
}

/** Reads the executions of a log by operation. */
export function readExecutions(executionLogFile: string): Executions {
  const executions = new Map<number, { computerId: number | null }[]>();
  for (const { operationId, computerId } of readExecutionLog(executionLogFile)) {
    const list = executions.get(operationId);
    if (list) list.push({ computerId });
    else executions.set(operationId, [{ computerId }]);
  }
  return executions;
}
