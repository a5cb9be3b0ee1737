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

interface Kernel {
  id: number;
  version: string;
}

interface KernelListing {
  installed: Kernel | null;
  upgrades: Kernel[];
  downgrades: Kernel[];
  smart_status: string;
}

interface Child {
  parent_id: number;
  computer_id: number;
  id: number;
  type: string;
  status: string;
  changes: Array<{ type: string; complemented: boolean }>;
}

/** Enough for a dozen computers with a kernel upgrade. */
const COMPUTERS = 23;
const TIMEOUT_MS = 180_000;

/** On simulated computers, while worker and API are killed. */
describe('chains', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  describe('runs of USG profiles', () => {
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
      (await scenario.api.get<Page<unknown>>(`/computers?query=${query}&limit=1&root_only=false`)).count;

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

  /** Followed by a restart, on computers of which some fail. The execution logs of the agents decide. */
  describe('kernel changes', () => {
    const listing = (computer: number) => scenario.api.get<KernelListing>(`/computers/${computer}/hotpatch/kernel`);

    async function upgradable(): Promise<Map<number, KernelListing>> {
      const found = new Map<number, KernelListing>();
      for (const computer of scenario.computers) {
        const kernels = await listing(computer);
        if (kernels.upgrades.length > 0) found.set(computer, kernels);
      }
      return found;
    }

    const change = (computer: number, action: 'upgrade' | 'downgrade', packageId: number, reboot = true) =>
      scenario.api.post<ActivityBody>(`/computers/${computer}/kernel/${action}`, {
        kernel_package_id: packageId,
        reboot_after: reboot,
      });

    it('appear in the list once the computer has reported them, upgrade and downgrade', async () => {
      const [[computer, before]] = [...(await upgradable())] as [[number, KernelListing]];
      const newest = before.upgrades[0]!;
      const upgrade = await change(computer, 'upgrade', newest.id);
      expect(await scenario.api.pollActivity(upgrade.id, 60_000)).toMatchObject({ activity_status: 'succeeded' });
      const settled = async (id: number) => {
        const now = await listing(computer);
        return now.installed?.id === id && now.smart_status !== 'Restart required';
      };
      await scenario.stack.waitUntil('the new kernel', () => settled(newest.id), { limitMs: 30_000 });
      const after = await listing(computer);
      expect(after.upgrades).toEqual([]);
      expect(after.downgrades.map(({ id }) => id)).toContain(before.installed!.id);
      const [kernel] = await childrenOf([upgrade.id]);
      expect(kernel!.changes).toMatchObject([
        { type: 'upgrade', complemented: false },
        { type: 'install', complemented: true },
      ]);
      const downgrade = await change(computer, 'downgrade', before.installed!.id, false);
      expect(await scenario.api.pollActivity(downgrade.id, 60_000)).toMatchObject({ activity_status: 'succeeded' });
      const isBack = async () => (await listing(computer)).installed?.id === before.installed!.id;
      await scenario.stack.waitUntil('the old kernel', isBack, { limitMs: 30_000 });
    });

    it('never restart a computer without a successful change, and none twice, whoever is killed', async () => {
      await scenario.fleet.restart({ failing: 0.3 });
      const targets = await upgradable();
      expect(targets.size).toBeGreaterThanOrEqual(8);
      const groups: number[] = [];
      for (const [computer, kernels] of targets) {
        groups.push((await change(computer, 'upgrade', kernels.upgrades[0]!.id)).id);
      }
      const delivered = async () => (await childrenOf(groups)).some(({ status }) => status === 'delivered');
      await scenario.stack.waitUntil('the first change to be delivered', delivered, { everyMs: 50 });
      await scenario.stack.kill('worker');
      await scenario.stack.kill('api');
      await scenario.untilReady();
      await scenario.stack.waitUntil('a worker to kill', () => scenario.stack.processes('worker').length > 0, {
        limitMs: 30_000,
      });
      await scenario.stack.kill('worker');
      for (const group of groups) await scenario.api.pollActivity(group, 90_000);
      expectSound(await childrenOf(groups));
      expect(scenario.fleet.violations).toEqual([]);
    });

    function childrenOf(groups: readonly number[]): Promise<Child[]> {
      return scenario.stack.rows<Child & Record<string, unknown>>(
        `select parent_id, computer_id, id, type, status, changes from activity
         where parent_id = any($1::int[]) order by id`,
        [groups],
      );
    }

    function expectSound(children: readonly Child[]): void {
      const executions = scenario.fleet.executions();
      const runs = (id: number) => executions.get(id)?.length ?? 0;
      const changes = children.filter(({ type }) => type === 'UpgradeKernelPackageRequest');
      const problems = changes.flatMap((kernel) => {
        const restart = children.find(
          ({ parent_id, type }) => parent_id === kernel.parent_id && type === 'RestartRequest',
        )!;
        const allowed = kernel.status === 'succeeded' ? 1 : 0;
        const what = `${kernel.status}: changed ${runs(kernel.id)}, restarted ${runs(restart.id)} (${restart.status})`;
        const sound = runs(kernel.id) === 1 && runs(restart.id) <= allowed;
        const reported =
          (restart.status === 'canceled') === (allowed === 0) && kernel.changes.length > 0 === (allowed === 1);
        return sound && reported ? [] : [`computer ${kernel.computer_id} ${what}`];
      });
      expect(problems).toEqual([]);
      expect(new Set(changes.map(({ status }) => status))).toEqual(new Set(['succeeded', 'failed']));
    }
  });
});
