import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityBody } from '../../../tools/harness/stack-client.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

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

/**
 * Kernel changes followed by a restart, on simulated computers of which some fail, while worker and API are killed. The
 * execution logs of the agents decide.
 */
describe('kernel changes', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;
  const listing = (computer: number) => scenario.api.get<KernelListing>(`/computers/${computer}/hotpatch/kernel`);

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

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

  it('can be undone by what the computer reported', async () => {
    const [[computer, before]] = [...(await upgradable())].slice(1) as [[number, KernelListing]];
    const body = { kernel_package_id: before.upgrades[0]!.id };
    const upgrade = await scenario.api.post<ActivityBody>(`/computers/${computer}/kernel/upgrade`, body);
    await scenario.api.pollActivity(upgrade.id, 60_000);
    const [undoing] = await scenario.api.post<number[]>('/activities/revert', { activity_ids: [upgrade.id] });
    expect(await scenario.api.pollActivity(undoing!, 60_000)).toMatchObject({ activity_status: 'succeeded' });
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
