import { FAULTS, type FaultName } from '../matrix/faults.ts';
import { FaultWorld } from '../world/world.ts';
import { drawPlan, nameOf } from './plan.ts';
import { type Outcome, runSeed } from './seed.ts';

export interface DriverOptions {
  seeds: readonly number[];
  computers: number;
  /** Seeds that share one stack; after a failed seed, the next one always gets a new stack. */
  perStack: number;
  /** Rows of the matrix to draw faults from; empty means all. */
  onlyRows: readonly number[];
  onOutcome?: (outcome: Outcome, place: number) => void;
  /** Called with each world, so that an interrupt can stop it. */
  onWorld?: (world: FaultWorld | null) => void;
}

/** Runs seeds one after another, sharing stacks until one fails. */
export async function runSeeds(options: DriverOptions): Promise<Outcome[]> {
  const { seeds, computers, perStack, onlyRows, onOutcome, onWorld } = options;
  const only = faultsOf(onlyRows);
  const outcomes: Outcome[] = [];
  let world: FaultWorld | null = null;
  let used = 0;
  try {
    for (const seed of seeds) {
      if (world && used === perStack) {
        await world.end();
        world = null;
      }
      if (!world) {
        world = await FaultWorld.start(computers);
        used = 0;
        onWorld?.(world);
      }
      used += 1;
      const outcome = await attempt(world, seed, only);
      outcomes.push(outcome);
      onOutcome?.(outcome, outcomes.length);
      if (outcome.violations.length > 0) used = perStack;
    }
    return outcomes;
  } finally {
    await world?.end();
    onWorld?.(null);
  }
}

/** A seed that cannot be completed has failed. */
async function attempt(world: FaultWorld, seed: number, only: readonly FaultName[]): Promise<Outcome> {
  const plan = drawPlan(seed, only);
  const startedAt = performance.now();
  try {
    return await runSeed(world, plan);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      seed,
      steps: plan.steps.map(nameOf),
      faults: plan.steps.flatMap((step) => ('fault' in step ? [step.fault] : [])),
      acts: plan.steps.flatMap((step) => ('act' in step ? [step.act] : [])),
      violations: [{ invariant: 'driver', text }],
      operations: 0,
      executions: 0,
      responses: {},
      struck: [],
      restMs: 0,
      late: [],
      ms: Math.round(performance.now() - startedAt),
    };
  }
}

function faultsOf(rows: readonly number[]): FaultName[] {
  const names = Object.keys(FAULTS) as FaultName[];
  if (rows.length === 0) return names;
  return names.filter((name) => FAULTS[name].rows.some((row: number) => rows.includes(row)));
}
