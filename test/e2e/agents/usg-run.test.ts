import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityBody, Page } from '../../../tools/harness/stack-client.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

interface Profile {
  id: number;
  associated_instances: number;
  last_run_results: {
    not_started: number;
    in_progress: number;
    passing: number;
    failing: number;
    pass_rate: number | null;
    report_uri: string | null;
  };
}

const COMPUTERS = 18;
const TIMEOUT_MS = 180_000;

/** Runs of USG profiles with simulated computers and their reports, while worker and API are killed. */
describe('runs of USG profiles', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  const create = (title: string, mode: string) =>
    scenario.api.post<Profile>('/usg-profiles', {
      title,
      mode,
      benchmark: 'cis_level1_server',
      schedule: 'FREQ=WEEKLY',
      start_date: '2099-01-01T00:00:00Z',
      all_computers: true,
    });
  const execute = (id: number) => scenario.api.post<ActivityBody>(`/usg-profiles/${id}:execute`, {});
  const read = (id: number) => scenario.api.get<Profile>(`/usg-profiles/${id}`);
  const count = async (query: string) =>
    (await scenario.api.get<Page<unknown>>(`/computers?query=${query}&limit=1`)).count;

  /** Waits until the last report of a run has been stored. */
  async function ended(id: number): Promise<Profile> {
    const isOver = async () => (await read(id)).last_run_results.report_uri !== 'in-progress';
    await scenario.stack.waitUntil('the reports to be taken in', isOver, { limitMs: 60_000 });
    return read(id);
  }

  let passing = 0;

  it('let some computers pass and others fail, rule by rule', async () => {
    const { id, associated_instances: computers } = await create('Audit', 'audit');
    expect(computers).toBeGreaterThanOrEqual(COMPUTERS);
    const run = await execute(id);
    await scenario.api.pollActivity(run.id, 60_000);
    const { last_run_results: results } = await ended(id);
    expect(results).toMatchObject({ not_started: 0, in_progress: 0 });
    expect(results.passing + results.failing).toBe(computers);
    expect(results.passing).toBeGreaterThan(2);
    expect(results.failing).toBeGreaterThan(2);
    passing = results.passing;
    expect(await count(`profile:usg:${id}:pass`)).toBe(results.passing);
    expect(await count(`profile:usg:${id}:fail`)).toBe(results.failing);
    const [rows] = await scenario.stack.rows<{ rules: number; computers: number; texts: number; waiting: number }>(
      `select count(*)::int as rules, count(distinct computer_id)::int as computers,
         count(*) filter (where description <> '' and rationale <> '' and identifiers <> '{}')::int as texts,
         (select count(*)::int from usg_audit_report) as waiting
       from usg_rule_result where profile_id = $1`,
      [id],
    );
    expect(rows!.computers).toBeGreaterThanOrEqual(results.passing);
    expect(rows).toMatchObject({ rules: 38 * rows!.computers, texts: rows!.rules, waiting: 0 });
  });

  it('do every step once and count every computer once, whoever is killed', async () => {
    const { id, associated_instances: computers } = await create('Fix', 'fix-restart-audit');
    const run = await execute(id);
    const started = async () => (await read(id)).last_run_results.in_progress > 0;
    await scenario.stack.waitUntil('the first fix to be delivered', started, { everyMs: 50 });
    await scenario.stack.kill('worker');
    await scenario.stack.kill('api');
    await scenario.untilReady();
    const isBack = () => scenario.stack.processes('worker').length > 0;
    await scenario.stack.waitUntil('a worker to kill', isBack, { limitMs: 30_000 });
    const audited = async () => {
      const [row] = await scenario.stack.rows<{ n: number }>(
        'select passing_count as n from usg_run where profile_id = $1',
        [id],
      );
      return row!.n > 0;
    };
    await scenario.stack.waitUntil('the first computer to pass', audited, { everyMs: 50, limitMs: 60_000 });
    await scenario.stack.kill('worker');
    await scenario.api.pollActivity(run.id, 90_000);
    const { last_run_results: results } = await ended(id);
    expect(results).toMatchObject({ not_started: 0, in_progress: 0 });
    expect(results.passing + results.failing).toBe(computers);
    expect(results.passing).toBeGreaterThan(passing);
    const [audits] = await scenario.stack.rows(
      `select count(*) filter (where state = 'pass')::int as passing, count(*) filter (where state = 'fail')::int as failing
       from usg_audit where profile_id = $1`,
      [id],
    );
    expect(audits).toEqual({ passing: results.passing, failing: results.failing });
    const executions = scenario.fleet.executions();
    const steps = await scenario.stack.rows<{ id: number; status: string }>(
      'select id, status from activity where parent_id = $1',
      [run.id],
    );
    const wrong = steps.filter(
      ({ id: step, status }) => (executions.get(step)?.length ?? 0) > (status === 'canceled' ? 0 : 1),
    );
    expect(wrong).toEqual([]);
    expect(scenario.fleet.violations).toEqual([]);
  });
});
