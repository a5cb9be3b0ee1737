import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityBody, Page } from '../../../tools/harness/stack-client.ts';
import { filesWith, readableHistory, tablesWith } from '../../support/stack/secret-scan.ts';
import { base64, script } from '../../support/scripts/scripts.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

const COMPUTERS = 23;
const TIMEOUT_MS = 180_000;

interface Snap {
  held_until: string | null;
  snap: { name: string };
}

interface Detail extends ActivityBody {
  reverts: number | null;
  reverted_by: number | null;
  actions: { revertable: boolean; reappliable: boolean };
}

interface Made {
  id: number;
  attachments: Array<{ id: number }>;
}

interface Child extends ActivityBody {
  result_text: string | null;
  result_code: number | null;
}

/** Checked by what simulated computers report afterwards. */
// Each test has computers of its own.
describe.concurrent('on simulated computers', { timeout: TIMEOUT_MS }, () => {
  let scenario: Scenario;

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await scenario?.end();
  }, 60_000);

  describe('undoing', () => {
    const detail = (id: number) => scenario.api.get<Detail>(`/activities/${id}`);
    const ended = async (id: number, status = 'succeeded') =>
      expect(await scenario.api.pollActivity(id, 60_000)).toMatchObject({ activity_status: status });
    const snapsOf = async (computer: number): Promise<Array<[string, string | null]>> => {
      const { results } = await scenario.api.get<Page<Snap>>(`/computers/${computer}/snaps/installed`);
      return results.map(({ snap, held_until }) => [snap.name, held_until]);
    };
    const allSnaps = () => Promise.all(scenario.computers.slice(0, 8).map(snapsOf));
    async function act(computers: number[], action: string, snaps: object[]): Promise<number> {
      const { id } = await scenario.api.post<ActivityBody>('/snaps', { action, computer_ids: computers, snaps });
      await ended(id);
      return id;
    }
    async function revert(id: number): Promise<number> {
      expect((await detail(id)).actions.revertable).toBe(true);
      const [made] = await scenario.api.post<number[]>('/activities/revert', { activity_ids: [id] });
      expect(await detail(made!)).toMatchObject({ reverts: id });
      await ended(made!);
      expect(await detail(id)).toMatchObject({ reverted_by: made, actions: { revertable: false } });
      return made!;
    }

    it('a revert removes what an install brought, and nothing that was there before', async () => {
      const [first, second] = scenario.computers as [number, number];
      await act([first], 'install', [{ name: 'jq' }]);
      const before = await allSnaps();
      const install = await act(scenario.computers.slice(0, 8), 'install', [{ name: 'hello' }, { name: 'jq' }]);
      const names = (await snapsOf(second)).map(([name]) => name);
      expect(names).toEqual(expect.arrayContaining(['hello', 'jq']));
      await revert(install);
      expect(await allSnaps()).toEqual(before);
      const again = await act([first], 'install', [{ name: 'jq' }]);
      expect((await detail(again)).actions.revertable).toBe(false);
      const rejected = await scenario.api.request('POST', '/activities/revert', { activity_ids: [again] });
      expect(rejected).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: again }] } });
    });

    it('reverts of holds and unholds bring the times before back', async () => {
      const computers = scenario.computers.slice(8, 11);
      await act(computers, 'install', [{ name: 'hello' }]);
      await act([computers[0]!], 'hold', [{ name: 'hello', time: '2036-05-04T00:00:00Z' }]);
      const before = await Promise.all(computers.map(snapsOf));
      const hold = await act(computers, 'hold', [{ name: 'hello' }]);
      expect((await snapsOf(computers[1]!)).find(([name]) => name === 'hello')).toEqual(['hello', 'forever']);
      await revert(hold);
      expect(await Promise.all(computers.map(snapsOf))).toEqual(before);
      const unhold = await act([computers[0]!], 'unhold', [{ name: 'hello' }]);
      await revert(unhold);
      expect(await Promise.all(computers.map(snapsOf))).toEqual(before);
    });

    it('a revert of a kernel change brings the version before back', async () => {
      interface Kernels {
        installed: { id: number } | null;
        upgrades: Array<{ id: number }>;
      }
      const listing = (computer: number) => scenario.api.get<Kernels>(`/computers/${computer}/hotpatch/kernel`);
      const all = await Promise.all(scenario.computers.map(async (id) => ({ id, kernels: await listing(id) })));
      const { id, kernels } = all.find((one) => one.kernels.upgrades.length > 0)!;
      const body = { kernel_package_id: kernels.upgrades[0]!.id };
      const upgrade = await scenario.api.post<ActivityBody>(`/computers/${id}/kernel/upgrade`, body);
      await ended(upgrade.id);
      const installed = async () => (await listing(id)).installed?.id;
      await scenario.stack.waitUntil('the upgrade', async () => (await installed()) === body.kernel_package_id);
      const undone = await revert(upgrade.id);
      await scenario.stack.waitUntil('the way back', async () => (await installed()) === kernels.installed!.id);
      const [child] = (await detail(undone)).children;
      expect(child).toMatchObject({ type: 'DowngradeKernelPackageRequest' });
    });

    it('SECRET-leak: a recovery key is in no log, table, file or history, and in one response alone', async () => {
      const [able] = await scenario.stack.rows<{ id: number }>(
        `select computer_id as id from computer_inventory where 'fde-recovery-key' = any(client_types) order by 1`,
      );
      const path = `/computers/${able!.id}/recovery-key`;
      const { id } = await scenario.api.post<ActivityBody>(`${path}:generate`, {});
      await ended(id);
      const response = await scenario.api.get<{ activity: null; fde_recovery_key: string }>(path);
      expect(response).toEqual({ activity: null, fde_recovery_key: expect.stringMatching(/^(\d{5}-){7}\d{5}$/) });
      const key = response.fde_recovery_key;
      const group = await detail(id);
      for (const route of [
        `/activities/${id}`,
        `/activities/${group.children[0]!.id}`,
        '/activities',
        '/events?days=1',
      ]) {
        expect((await scenario.api.request('GET', route)).text, route).not.toContain(key);
      }
      expect(await tablesWith(scenario.stack, key)).toEqual([]);
      await scenario.stack.administer('checkpoint');
      expect(filesWith(scenario.stack.root, key)).toEqual([]);
      const text = await readableHistory(scenario.stack, `activity/${id}`);
      expect(text).toContain(String(id));
      expect(text).not.toContain(key);
      const again = await scenario.api.post<ActivityBody>(`${path}:generate`, {});
      await ended(again.id);
      const next = await scenario.api.get<{ fde_recovery_key: string }>(path);
      expect(next.fde_recovery_key).not.toBe(key);
    });

    it('three computers have keys to give and three desktops do not', async () => {
      const rows = await scenario.stack.rows<{ id: number; able: boolean }>(
        `select i.computer_id as id, 'fde-recovery-key' = any(i.client_types) as able from computer_inventory i
         where i.computer_id = any($1)`,
        [scenario.computers],
      );
      expect(rows.filter(({ able }) => able)).toHaveLength(3);
      const plain = rows.filter(({ able }) => !able).slice(0, 3);
      for (const { id } of plain) {
        const rejected = await scenario.api.request('POST', `/computers/${id}/recovery-key:generate`, {});
        expect(rejected).toMatchObject({ status: 400, body: { error: 'FdeNotSupported' } });
      }
    });
  });

  describe('scripts', () => {
    let turn = 0;
    const computers = () => scenario.computers.slice(11, 17);
    /** Creates and runs a script. @returns the ended group and its children */
    async function run(over: object, command: object = {}): Promise<{ made: Made; group: number; children: Child[] }> {
      turn += 1;
      const made = await scenario.api.post<Made>('/scripts', script({ title: `Script ${turn}`, ...over }));
      const query = { query: `id:${computers()[0]}`, ...command };
      const { id } = await scenario.api.post<ActivityBody>(`/scripts/${made.id}:execute`, query);
      const ended = await scenario.api.pollActivity(id, 60_000);
      return { made, group: id, children: (ended as unknown as { children: Child[] }).children };
    }

    it('end with their output on every computer', async () => {
      const ids = computers()
        .map((id) => `id:${id}`)
        .join(' OR ');
      const { children } = await run({ code: '#!/bin/sh\nwhoami\necho done' }, { query: ids });
      expect(children).toHaveLength(computers().length);
      for (const child of children) {
        expect(child).toMatchObject({ activity_status: 'succeeded', result_text: 'root\ndone\n', result_code: null });
      }
    });

    it('end by their exit code, their time limit or an unknown user, each distinguished', async () => {
      const [exit, limit, user] = await Promise.all([
        run({ code: '#!/bin/bash\necho before\nexit 3' }),
        run({ code: '#!/bin/bash\necho before\nsleep 600\necho after', time_limit: 2 }),
        run({ username: 'nobody-here' }),
      ]);
      expect(exit!.children).toMatchObject([
        {
          activity_status: 'failed',
          result_code: 103,
          result_text: 'The script ended with a non-zero exit code.\nbefore\n',
        },
      ]);
      expect(limit!.children).toMatchObject([
        {
          activity_status: 'failed',
          result_code: 102,
          result_text: 'The script reached its time limit and was killed.\nbefore\n',
        },
      ]);
      expect(user!.children).toMatchObject([{ activity_status: 'failed', result_code: null }]);
      expect(user!.children[0]!.result_text).toContain('nobody-here');
    });

    it('bring their files along, which nobody else may fetch', async () => {
      const attachments = [{ filename: 'data.txt', content: base64('what is attached\n') }];
      const { made, children } = await run({ code: '#!/bin/sh\ncat $LANDSCAPE_ATTACHMENTS/data.txt', attachments });
      expect(children).toMatchObject([{ activity_status: 'succeeded', result_text: 'what is attached\n' }]);
      const fetched = await fetch(`${scenario.stack.url}/attachment/${made.attachments[0]!.id}`);
      expect(fetched.status).toBe(404);
    });

    it('SECRET-leak: code and output are in no log, event or history', async () => {
      const inCode = `canary-${crypto.randomUUID()}`;
      const { group, children } = await run({ code: `#!/bin/sh\n# ${inCode}\necho out-${inCode}` });
      expect(children[0]!.result_text).toBe(`out-${inCode}\n`);
      for (const route of ['/events?days=1', '/scripts?script_type=all']) {
        expect((await scenario.api.request('GET', route)).text, route).not.toContain(inCode);
      }
      const text = await readableHistory(scenario.stack, `activity/${group}`);
      expect(text).toContain(String(group));
      expect(text).not.toContain(inCode);
      // PostgreSQL has both; the simulated agents store what they have not run or sent.
      const databases = /(^|\/)(postgres|pg|fleet|beside)[^/]*\//;
      const found = filesWith(scenario.stack.root, inCode).filter((name) => !databases.test(name));
      expect(found).toEqual([]);
    });
  });
});
