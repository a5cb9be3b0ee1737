import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../../src/process/logger.ts';
import type { Executions } from '../../harness/delivery-order.ts';
import { readExecutions } from '../../harness/stack-fleet.ts';
import { createFleet, type Fleet, type SimulatedComputer } from '../../simulator/fleet.ts';

/** Fast enough for a seed of seconds, slow enough for faults to hit operations before, during and after execution. */
const TIMES = {
  pingMs: 600,
  urgentMs: 150,
  operationMs: 250,
  rebootMs: 600,
  retryMs: 250,
  exchangeMs: 60_000,
  rampMs: 500,
};

/** Computers of one account in the driver's process: like real ones they outlive any fault of the server. */
export interface Computers {
  readonly fleet: Fleet;
  /** Their ids on the server, in the order of the fleet. */
  ids(): number[];
  takingSnaps(): number[];
  byId(id: number): SimulatedComputer | undefined;
  executions(): Executions;
  /** A copy of the computers with their last saved state; not started yet. */
  copy(name: string): Computers;
  violations(): string[];
}

export interface FleetPlace {
  directory: string;
  name: string;
  url: string;
  account: string;
  seed: number;
  computers: number;
}

/** Creates the computers; nothing runs before the fleet is started. */
export function createComputers(place: FleetPlace): Computers {
  const executionLogFile = join(place.directory, `${place.name}.execution-log.jsonl`);
  const stateFile = join(place.directory, `${place.name}.state.jsonl`);
  const fleet = createFleet({
    computers: place.computers,
    url: place.url,
    account: place.account,
    seed: place.seed,
    logger: createLogger({ level: 'silent', role: 'fleet' }),
    stateFile,
    executionLogFile,
    times: TIMES,
  });
  const known = (computers: readonly SimulatedComputer[]): number[] =>
    computers.flatMap(({ computerId }) => (computerId === null ? [] : [computerId]));
  return {
    fleet,
    ids: () => known(fleet.computers),
    takingSnaps: () => known(fleet.computers.filter(({ machine }) => machine.blueprint.catalogue !== null)),
    byId: (id) => fleet.computers.find(({ computerId }) => computerId === id),
    executions: () => readExecutions(executionLogFile),
    copy(name) {
      copyFileSync(stateFile, join(place.directory, `${name}.state.jsonl`));
      return createComputers({ ...place, name });
    },
    violations: () => [...fleet.violations].map(([text, count]) => `${place.name}: ${count} times ${text}`),
  };
}
