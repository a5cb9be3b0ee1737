import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Executions } from '../../../tools/harness/delivery-order.ts';
import type { TestStack } from '../../../tools/harness/stack.ts';
import type { ActivityBody, ApiClient, Page } from '../../../tools/harness/stack-client.ts';
import { neverHandedOut, openWorkflows, violationsOf } from '../../../tools/harness/stack-invariants.ts';
import type { StackRole } from '../../../tools/harness/stack-processes.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

/**
 * Kills and other faults in the middle of an action, over real processes; the agents' own execution logs decide.
 *
 * - `FLOTILLA_E2E_COMPUTERS`: computers of the action, 1,000 by default
 * - `FLOTILLA_E2E_ROUNDS`: how often each kill is repeated, each time at another moment of the action, 4 by default
 *
 * @see docs/reliability.md#the-fault-matrix
 */
const COMPUTERS = Number(process.env['FLOTILLA_E2E_COMPUTERS'] ?? 1000);
const ROUNDS = Number(process.env['FLOTILLA_E2E_ROUNDS'] ?? 4);
/** How much of the action is done when the fault strikes, by round. */
const MOMENTS = [0.15, 0, 0.6, 0.01, 0.8, 0.4] as const;
const rounds = Array.from({ length: ROUNDS }, (_, i) => MOMENTS[i % MOMENTS.length] ?? 0);
/** After the return of a server that hung; the work itself takes a few seconds. */
const LATENESS_MS = 30_000 + COMPUTERS * 30;
const TIMEOUT_MS = 240_000 + COMPUTERS * 300;

describe(`faults in the middle of an action on ${COMPUTERS} computers`, { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;
  let stack: TestStack;
  let api: ApiClient;

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
    ({ stack, api } = scenario);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  it('does its work when nothing goes wrong, and the check would notice if it did not', async () => {
    const { computers, fleet } = scenario;
    const group = await scenario.inTheMiddle();
    await scenario.expectSucceeded(group);
    const executions = new Map(fleet.executions());
    const operations = await stack.rows<{ id: number }>('select id from activity where parent_id = $1', [group]);
    const [first = 0, second = 0] = operations.map(({ id }) => id);
    executions.set(first, []);
    executions.set(second, [...(executions.get(second) ?? []), { computerId: -1 }]);
    const found = await violationsOf(stack, group, [...computers.slice(1), -1], executions);
    expect(found.map((text) => text.replace(/\d+/, 'n')).toSorted()).toEqual([
      'computer -n has no operation',
      'computer n was not requested',
      expect.stringMatching(/^operation n \(.* ran 0 times$/),
      expect.stringMatching(/^operation n \(.* ran 2 times$/),
      expect.stringMatching(/^operation n of .* ran on computer -1$/),
    ]);
  });

  // What an API client may see meanwhile: reads need PostgreSQL and the API alone. 0 is a broken connection.
  const victims: [string, StackRole[], number[]][] = [
    ['the worker', ['worker'], [200]],
    ['the API', ['api'], [200, 0]],
    ['Temporal', ['temporal'], [200]],
    ['PostgreSQL', ['postmaster', 'postgres-backend'], [200, 503]],
  ];
  const together: typeof victims = [['all four at once', victims.flatMap(([, roles]) => roles), [200, 503, 0]]];
  describe.each([...victims, ...together])('kill -9 of %s', (_, roles, allowed) => {
    // A supervisor gives a part up that ends six times within a minute, whoever ends it.
    beforeEach(async () => {
      await stack.stop('SIGTERM');
      await stack.start();
    });

    it.each(rounds)('changes no outcome, with %d of it done', async (share) => {
      const group = await scenario.inTheMiddle(share);
      const seen = await scenario.readingMeanwhile(group, async () => {
        await stack.kill(...roles);
        await scenario.expectSucceeded(group);
        await scenario.untilReady();
      });
      expect([...seen].filter((status) => !allowed.includes(status))).toEqual([]);
    });
  });

  it.each(rounds)('survives kill -9 of everything and a new start, with %d of it done', async (share) => {
    const group = await scenario.inTheMiddle(share);
    await stack.killEverything();
    await stack.start();
    await scenario.expectSucceeded(group);
  });

  it('stops in order on SIGTERM in the middle and goes on after a new start', async () => {
    const group = await scenario.inTheMiddle();
    const end = await stack.stop('SIGTERM');
    // It is 1 when something had to be ended by force.
    expect(end.code).toBe(0);
    expect(stack.describeProcesses()).toBe('no process');
    await stack.start();
    await scenario.expectSucceeded(group);
  });

  it('accepts an action while Temporal hangs, reports it in /readyz, and runs it after the return', async () => {
    const temporal = stack.processes('temporal')[0]?.pid ?? 0;
    process.kill(temporal, 'SIGSTOP');
    await stack.waitUntil('/readyz to notice', async () => (await stack.readiness()).status === 503, {
      limitMs: 30_000,
    });
    expect((await stack.readiness()).text).toMatch(/temporal/i);
    const group = await api.actOnSnaps(scenario.computers);
    expect((await api.activity(group)).activity_status).toBe('undelivered');
    const commands = (lock = '') => stack.rows(`select from outbox where key = $1 ${lock}`, [String(group)]);
    const isClaimed = async () => (await commands('for update skip locked')).length === 0;
    await stack.waitUntil('the worker to try to start it', isClaimed);
    expect(await commands()).toHaveLength(1);
    expect((await scenario.progress(group)).ended).toBe(0);
    process.kill(temporal, 'SIGCONT');
    await scenario.expectSucceeded(group, LATENESS_MS);
    await scenario.untilReady();
  });

  it('returns 503 while PostgreSQL hangs, from an API started meanwhile too, and goes on after its return', async () => {
    const group = await scenario.inTheMiddle();
    const server = stack.processes().filter(({ role }) => role === 'postmaster' || role === 'postgres-backend');
    for (const { pid } of server) process.kill(pid, 'SIGSTOP');
    await stack.kill('api');
    await stack.waitUntil('an API that gives the reason', async () =>
      (await stack.readiness()).text.includes('PostgreSQL'),
    );
    expect((await api.request('POST', '/login', { email: 'nobody@example.com', password: 'none' })).status).toBe(503);
    for (const { pid } of server) process.kill(pid, 'SIGCONT');
    await scenario.expectSucceeded(group, LATENESS_MS);
    await scenario.untilReady();
  });

  it('makes nothing or all of an action when the API dies at its POST, and keeps what it confirmed', async () => {
    const before = await parents();
    const posts = Array.from({ length: 4 }, () => api.actOnSnaps(scenario.computers.slice(0, 40)).catch(() => null));
    await Promise.race(posts);
    await stack.kill('api');
    const confirmed = (await Promise.all(posts)).filter((id) => id !== null);
    await scenario.untilReady();
    const made = (await parents()).filter((id) => !before.includes(id));
    expect(made.length).toBeLessThanOrEqual(posts.length);
    expect(made).toEqual(expect.arrayContaining(confirmed));
    for (const group of made) await scenario.expectSound(group, { computers: scenario.computers.slice(0, 40) });
  });

  it('cancels in the middle: what was not sent never runs, what ran keeps its result', async () => {
    const group = await scenario.inTheMiddle();
    await api.post('/activities/cancel', { activity_ids: [group] });
    const unsent = await neverHandedOut(stack, group);
    await scenario.expectSound(group);
    const executions = scenario.fleet.executions();
    expect(unsent.filter((id) => executions.has(id))).toEqual([]);
    const { succeeded = 0, canceled = 0, ...others } = await scenario.statuses(group);
    expect(others).toEqual({});
    expect(succeeded).toBeGreaterThan(0);
    const page = await api.get<Page<ActivityBody>>('/activities/parents?limit=5');
    const item = page.results.find(({ id }) => id === group);
    expect(item?.children_statuses).toEqual({ good: succeeded, warning: 0, bad: canceled });
  });

  it.each(['group', 'computer'])(
    'closes the rows with a text when an operator terminates the workflow of a %s',
    async (which) => {
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '');
      const computers = scenario.computers.slice(0, 3);
      const group = await api.actOnSnaps(computers, { deliver_after: tomorrow });
      const client = await stack.temporal();
      await stack.waitUntil('its workflows to run', async () => (await openWorkflows(stack)).length === 4);
      const children = (await api.activity(group)).children.map((child) => child.id);
      const target = which === 'group' ? group : children[0];
      await client.workflow.getHandle(`activity/${target}`).terminate('by an operator');
      for (const id of which === 'group' ? children : children.slice(0, 1)) {
        const activity = await api.pollActivity(id, 90_000);
        expect(activity.activity_status).toBe('canceled');
        expect(activity.result_text).toMatch(/terminated/i);
      }
      if (which === 'computer') await api.post('/activities/cancel', { activity_ids: [group] });
      await scenario.expectSound(group, { computers });
    },
  );

  it('executes once and records one outcome when responses are lost, sends doubled and agents die before it', async () => {
    await scenario.fleet.restart({ lostResponses: 0.1, duplicateSends: 0.1, dieBefore: 0.05, failing: 0.05 });
    const group = await api.actOnSnaps(scenario.computers);
    await scenario.expectSound(group);
    const { succeeded = 0, failed = 0 } = await scenario.statuses(group);
    expect(succeeded + failed).toBe(COMPUTERS);
    expect(failed).toBeGreaterThan(0);
  });

  it('records one outcome when agents die right after the work, the one case in which it runs again', async () => {
    await scenario.fleet.restart({ dieAfter: 0.1 });
    const group = await api.actOnSnaps(scenario.computers);
    await scenario.expectSound(group, { executions: () => firstOfEach(scenario.fleet.executions()) });
    expect(await scenario.statuses(group)).toEqual({ succeeded: COMPUTERS });
    const repeated = [...scenario.fleet.executions().values()].filter((runs) => runs.length > 1);
    expect(repeated.length).toBeGreaterThan(0);
  });

  async function parents(): Promise<number[]> {
    const rows = await stack.rows<{ id: number }>('select id from activity where parent_id is null');
    return rows.map((row) => row.id);
  }
});

function firstOfEach(executions: Executions): Executions {
  return new Map([...executions].map(([id, runs]) => [id, runs.slice(0, 1)]));
}
