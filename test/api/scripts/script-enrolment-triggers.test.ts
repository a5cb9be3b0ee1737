import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acceptComputers } from '../../../src/services/computers/acceptance.ts';
import { SETTINGS } from '../../support/activities/activity-rows.ts';
import { PUBLIC_URL } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { event, LIMITS, TriggerWorld } from '../../support/scripts/scripts.ts';

let t: TriggerWorld;

beforeAll(async () => {
  t = await TriggerWorld.create();
});
afterAll(() => t?.close());
beforeEach(() => t.next());

describe('post_enrollment', () => {
  const pending = (title: string, over: object = {}) =>
    insertComputer(t.world.db, { accountId: t.world.accountId, title, state: 'pending', ...over });
  const accept = (ids: readonly number[]) => t.call('POST', '/pending-computers:accept', { computer_ids: ids });

  it('runs once on each computer in scope when it is accepted', async () => {
    const all = await t.create(event, { title: `All ${t.turn}` });
    const tagged = await t.create(event, { title: `Tagged ${t.turn}`, all_computers: false, tags: ['lab'] });
    const removed = await t.create(event, { title: `Gone ${t.turn}` });
    await t.call('POST', `/script-profiles/${removed.id}:archive`);
    expect(await t.runs(all.id)).toEqual([]);
    const [plain, lab] = [await pending('new-1'), await pending('new-2', { tags: ['lab'] })];
    expect((await accept([plain, lab])).status).toBe(200);
    const [run] = await t.runs(all.id);
    expect(run).toMatchObject({
      summary: 'Run script: Say hello',
      creator: { id: t.world.adminId },
      children_count: 2,
    });
    expect(await t.computersOf(run.id)).toEqual([plain, lab]);
    expect(await t.computersOf((await t.runs(tagged.id))[0].id)).toEqual([lab]);
    expect(await t.runs(removed.id)).toEqual([]);
    expect(await t.read(all.id)).toMatchObject({
      trigger: event,
      computers: { num_associated_computers: 0 },
      activities: { last_activity: { id: run.id } },
    });
    expect((await accept([plain])).status).toBe(404);
    expect(await t.runs(all.id)).toHaveLength(1);
    for (const { id } of [all, tagged]) await t.call('POST', `/script-profiles/${id}:archive`);
  });

  it('leaves nobody out when there are more than a run may have', async () => {
    const { id } = await t.create(event);
    const ids = [await pending('m-1'), await pending('m-2'), await pending('m-3')];
    const { services } = t.world.app;
    expect(services.scriptProfiles.limits.maxComputers).toBeGreaterThan(3);
    await t.world.db.transaction((tx) =>
      acceptComputers(
        tx,
        { accountId: t.world.accountId, computerIds: ids, accessGroupId: null, now: t.now(), traceparent: null },
        { settings: SETTINGS, limits: { ...LIMITS, maxComputers: 2 }, publicUrl: PUBLIC_URL },
      ),
    );
    const made = await t.runs(id);
    expect(await Promise.all(made.map((run: { id: number }) => t.computersOf(run.id)))).toEqual([
      ids.slice(0, 2),
      [ids[2]],
    ]);
    await t.call('POST', `/script-profiles/${id}:archive`);
  });

  it('1,000 computers at once with three profiles: each runs once on each, also when the first try dies', async () => {
    const profiles = [];
    for (const n of [1, 2, 3]) profiles.push(await t.create(event, { title: `Batch ${n}` }));
    const rows = await t.world.db.query<{ id: number }>(
      `insert into computer (account_id, access_group_id, state, title, registered_at)
       select $1, g.id, 'pending', 'batch-' || n, now() from access_group g, generate_series(1, 1000) n
       where g.account_id = $1 and g.name = 'global' returning id`,
      [t.world.accountId],
    );
    const ids = rows.map(({ id }) => id);
    const acceptance = {
      accountId: t.world.accountId,
      computerIds: ids,
      accessGroupId: null,
      now: t.now(),
      traceparent: null,
    };
    const deps = { settings: SETTINGS, limits: LIMITS, publicUrl: PUBLIC_URL };
    const died = t.world.db.transaction(async (tx) => {
      await acceptComputers(tx, acceptance, deps);
      await tx.query('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(died).rejects.toThrow();
    expect(await Promise.all(profiles.map(({ id }) => t.runs(id)))).toEqual([[], [], []]);
    expect((await accept(ids)).status).toBe(200);
    const [counted] = await t.world.db.query(
      `select count(*)::int as operations, count(distinct (r.profile_id, k.computer_id))::int as pairs
       from script_profile_run r join activity k on k.parent_id = r.activity_id
       where r.profile_id = any($1::int[]) and k.computer_id = any($2::int[])`,
      [profiles.map(({ id }) => id), ids],
    );
    expect(counted).toEqual({ operations: 3000, pairs: 3000 });
    for (const { id } of profiles) {
      expect((await t.runs(id)).map((run: { children_count: number }) => run.children_count)).toEqual([1000]);
    }
  });
});
