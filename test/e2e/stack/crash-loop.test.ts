import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StackRole } from '../../../tools/harness/stack-processes.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { SEED } from '../../support/common/random.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

/**
 * Actions of all sizes, some of them canceled, while processes are killed at random; the agents' execution logs decide.
 * `FLOTILLA_TEST_SEED` repeats a run's decisions, `FLOTILLA_E2E_KILLS` (default 3) is the number of kills.
 *
 * @see docs/reliability.md#crash-loop
 */
const KILLS = Number(process.env['FLOTILLA_E2E_KILLS'] ?? 3);
const COMPUTERS = 120;
const TIMEOUT_MS = 240_000 + KILLS * 20_000;
const PARTS: readonly StackRole[] = ['worker', 'api', 'temporal', 'postmaster'];
/** The supervisor gives a part up that ends six times within a minute, whoever ends it. */
const MOST_KILLS_A_MINUTE = 4;

describe(`crash loop, seed ${SEED}, ${KILLS} kills`, { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;
  const random = createRandom(SEED, 'crash-loop', KILLS);
  const killed: { role: StackRole; at: number }[] = [];

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  it('leaves every action with one outcome per computer', async () => {
    const known = new Map<number, number[]>();
    for (let i = 0; i < KILLS; i += 1) {
      for (let n = random.int(1, 3); n > 0; n -= 1) await act(known);
      // The kill comes at a random moment, and so does what comes after it.
      await sleep(random.int(0, 2500));
      if (random.chance(0.4)) await cancelOne(known);
      await strike();
      await sleep(random.int(0, 2500));
    }
    await scenario.untilReady();
    await expectAllSound(known);
  });

  /** Acts on one computer, a few, or many, as a client that tries once: a response may be lost. */
  async function act(known: Map<number, number[]>): Promise<void> {
    const size = random.pick([random.int(1, 3), random.int(4, 25), random.int(26, COMPUTERS)]);
    const computers = random.sample(scenario.computers, size);
    const action = random.pick(['install', 'refresh', 'hold']);
    const id = await scenario.api.actOnSnaps(computers, { action }).catch(() => null);
    if (id !== null) known.set(id, computers);
  }

  async function cancelOne(known: Map<number, number[]>): Promise<void> {
    const group = random.pick([...known.keys(), 0]);
    await scenario.api.request('POST', '/activities/cancel', { activity_ids: [group] }).catch(() => null);
  }

  async function strike(): Promise<void> {
    const { stack } = scenario;
    if (random.chance(0.15)) {
      await stack.killEverything();
      await stack.start();
      return;
    }
    const since = performance.now() - 60_000;
    const rested = PARTS.filter(
      (role) => killed.filter((kill) => kill.role === role && kill.at > since).length < MOST_KILLS_A_MINUTE,
    );
    if (rested.length === 0) return;
    const role = random.pick(rested);
    killed.push({ role, at: performance.now() });
    // It may just be starting again after the last strike.
    await stack.waitUntil(`a ${role} to kill`, () => stack.processes(role).length > 0, { limitMs: 30_000 });
    await stack.kill(role);
  }

  async function expectAllSound(known: ReadonlyMap<number, number[]>): Promise<void> {
    const rows = await scenario.stack.rows<{ id: number; computers: number[] }>(
      `select p.id, array_agg(c.computer_id) as computers
        from activity p join activity c on c.parent_id = p.id group by p.id order by p.id`,
    );
    const made = new Map(rows.map(({ id, computers }) => [id, computers]));
    expect([...known.keys()].filter((id) => !made.has(id))).toEqual([]);
    for (const [group, computers] of made) {
      await scenario.expectSound(group, { computers: known.get(group) ?? computers });
    }
  }
});
