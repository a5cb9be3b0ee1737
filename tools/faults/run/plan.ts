import { createRandom, type Random } from '../../simulator/random.ts';
import { FAULTS, type FaultName } from '../matrix/faults.ts';
import { ACTIONS, type ActionName, FURTHER_ACTIONS, LATER_ACTIONS } from '../workload/actions.ts';

/** One step of a seed, work or a fault, with its delay after the previous step; some are not awaited. */
export type Step = { afterMs: number; waits: boolean; stream: string | number } & (
  | { act: ActionName }
  | { fault: FaultName }
);

/** The steps of one seed. Each step draws its details from its own random stream. */
export interface Plan {
  seed: number;
  steps: readonly Step[];
}

/**
 * Draws the steps of a seed: a dozen pieces of work with one to three faults among them.
 * @param only - faults to draw from; all by default
 */
export function drawPlan(seed: number, only: readonly FaultName[] = names(FAULTS)): Plan {
  const random = createRandom(seed, 'faults');
  const work = Array.from({ length: random.int(6, 12) }, () => ({
    act: weighted(random, names(ACTIONS), (name) => ACTIONS[name].weight),
    afterMs: random.int(0, 350),
    waits: random.chance(0.5),
  }));
  const faults = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => ({
    fault: weighted(random, only, (name) => FAULTS[name].weight),
    afterMs: random.int(0, 600),
    waits: random.chance(0.6),
  }));
  const steps: ((typeof work)[number] | (typeof faults)[number])[] = [...work];
  // Never before the first piece of work.
  for (const fault of faults) steps.splice(random.int(1, steps.length), 0, fault);
  const first = steps.map((step, stream) => ({ ...step, stream }));
  const further = withMoreWork(seed, first, 'further', FURTHER_ACTIONS);
  return { seed, steps: withMoreWork(seed, further, 'later', LATER_ACTIONS) };
}

function withMoreWork<T extends ActionName>(
  seed: number,
  steps: readonly Step[],
  kind: string,
  actions: Readonly<Record<T, { weight: number }>>,
): Step[] {
  const random = createRandom(seed, `${kind} work`);
  const all = [...steps];
  for (let left = random.int(0, 3); left > 0; left -= 1) {
    const act = weighted(random, names(actions), (name) => actions[name].weight);
    const step = { act, afterMs: random.int(0, 350), waits: random.chance(0.5), stream: `${kind} ${left}` };
    all.splice(random.int(0, all.length), 0, step);
  }
  return all;
}

/** The random stream of a step. */
export function streamOf(plan: Plan, step: Step): Random {
  return createRandom(plan.seed, 'step', step.stream);
}

/** Name of a step in output. */
export function nameOf(step: Step): string {
  return 'act' in step ? step.act : step.fault.toUpperCase();
}

function names<T extends string>(table: Readonly<Record<T, unknown>>): T[] {
  return Object.keys(table) as T[];
}

function weighted<T>(random: Random, items: readonly T[], weight: (item: T) => number): T {
  let left = random.next() * items.reduce((sum, item) => sum + weight(item), 0);
  for (const item of items) {
    left -= weight(item);
    if (left < 0) return item;
  }
  return items[0]!;
}
