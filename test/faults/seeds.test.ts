import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawPlan } from '../../tools/faults/run/plan.ts';
import { runSeed } from '../../tools/faults/run/seed.ts';
import seeds from '../../tools/faults/seeds.json' with { type: 'json' };
import { FaultWorld } from '../../tools/faults/world/world.ts';

/** Bounded by work: every wait ends when nothing moves any more, however slow the machine. */
const TIMEOUT_MS = 900_000;

/**
 * Seeds that found something, or draw what others do not, on one stack; `npm run faults` runs as many more as one likes.
 *
 * @see docs/reliability.md#the-fault-matrix
 */
describe('fixed seeds', { timeout: TIMEOUT_MS }, () => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await FaultWorld.start(30);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await world?.end();
  }, 60_000);

  it.each(seeds)('seed $seed: $found', async ({ seed }) => {
    const outcome = await runSeed(world, drawPlan(seed));
    expect(outcome.violations).toEqual([]);
    expect(outcome.operations).toBeGreaterThan(0);
  });
});
