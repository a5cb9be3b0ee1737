import { afterAll, beforeAll, describe, it } from 'vitest';
import { Stage } from '../../tools/faults/rows/case.ts';
import { ROW_CASES } from '../../tools/faults/rows/index.ts';
import { FaultWorld } from '../../tools/faults/world/world.ts';

/** `FLOTILLA_FAULTS_LONG=1`, as `npm run faults -- --rows` sets it, repeats more and waits longer. */
const LONG = process.env['FLOTILLA_FAULTS_LONG'] === '1';
/** Bounded by work: every wait ends when nothing moves any more, however slow the machine. */
const TIMEOUT_MS = LONG ? 3_600_000 : 900_000;

/** The fault matrix by its rows, on one stack. @see docs/reliability.md#the-fault-matrix */
describe('the fault matrix', { timeout: TIMEOUT_MS }, () => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await FaultWorld.start(LONG ? 100 : 24);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await world?.end();
  }, 60_000);

  it.each(ROW_CASES.filter(({ longOnly }) => LONG || !longOnly))('row $row: $title', async ({ run }) => {
    await run(new Stage(world, LONG));
  });
});
