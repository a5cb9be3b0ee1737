import { afterAll, beforeAll, describe, it } from 'vitest';
import { AGENTS } from './rows/agents.rows.ts';
import { Stage } from './rows/case.ts';
import { DATABASE } from './rows/database.rows.ts';
import { DURABLE } from './rows/durable.rows.ts';
import { TIME } from './rows/time.rows.ts';
import { WORKERS } from './rows/workers.rows.ts';
import { FaultWorld } from './world/world.ts';

/** `FLOTILLA_FAULTS_LONG=1`, as `npm run faults -- --rows` sets it, repeats more and waits longer. */
const LONG = process.env['FLOTILLA_FAULTS_LONG'] === '1';
/** Bounded by work: every wait ends when nothing moves any more, however slow the machine. */
const TIMEOUT_MS = LONG ? 3_600_000 : 900_000;
const cases = [...DURABLE, ...DATABASE, ...AGENTS, ...TIME, ...WORKERS].toSorted((a, b) => a.row - b.row);

/** The fault matrix by its rows, on one stack. @see perf-reliability B4 */
describe('the fault matrix', { timeout: TIMEOUT_MS }, () => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await FaultWorld.begin(LONG ? 100 : 24);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await world?.end();
  }, 60_000);

  it.each(cases.filter(({ longOnly }) => LONG || !longOnly))('row $row: $title', async ({ run }) => {
    await run(new Stage(world, LONG));
  });
});
