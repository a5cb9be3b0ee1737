import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityGroups, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertComputer } from '../../support/computers/computers.ts';

let world: FleetWorld;
const { act, get, cancel, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const inHours = (hours: number) => new Date(world.clock.now().getTime() + hours * 3_600_000).toISOString();

/** Whether both listings find an activity by its status. */
async function isFoundAs(status: string, id: number): Promise<boolean> {
  const query = encodeURIComponent(`status:${status} id:${id}`);
  const [all, parents] = await Promise.all([
    get(`/activities?query=${query}`),
    get(`/activities/parents?query=${query}`),
  ]);
  expect(all.body.count).toBe(parents.body.count);
  return all.body.count === 1;
}

/** A computer of its own, which may leave. */
const aComputer = (title: string) => insertComputer(world.db, { accountId: world.accountId, title });

const remove = (id: number) =>
  world.app.call('POST', '/computers:delete', { token: world.tokens.admin, body: { computer_ids: [id] } });

describe('a scheduled group', () => {
  it.each(['a canceled child', 'a removed computer'])('stays scheduled and undelivered with %s', async (what) => {
    const leaving = await aComputer('leaving');
    const computer_ids = [leaving, world.ids['web'], world.ids['db']];
    const group = await act([], { computer_ids, deliver_after: inHours(2) });
    await world.processEvents();
    const [first] = await childrenOf(world.db, group);
    await (what === 'a canceled child' ? cancel([first!.id]) : remove(leaving));
    await world.processEvents();
    const { body } = await get(`/activities/${group}`);
    expect(body).toMatchObject({ activity_status: 'scheduled', delivery_time: null, completion_time: null });
    const statuses = body.children.map((child: { activity_status: string }) => child.activity_status);
    expect(statuses).toEqual(['canceled', 'scheduled', 'scheduled']);
    expect([await isFoundAs('scheduled', group), await isFoundAs('delivered', group)]).toEqual([true, false]);

    world.clock.advance(3 * 3_600_000);
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('undelivered');
    await report(group, null, true, true);
    expect((await get(`/activities/${group}`)).body).toMatchObject({
      activity_status: 'canceled',
      delivery_time: expect.any(String),
    });
  });

  it('stays scheduled when the operation that was due first is canceled, beyond that moment', async () => {
    const group = await act(['web', 'db', 'desk'], { deliver_after: inHours(1), deliver_after_window: 600 });
    const [first, ...others] = await childrenOf(world.db, group);
    const due = (hours: number) => new Date(world.clock.now().getTime() + hours * 3_600_000);
    const move = (ids: readonly number[], at: Date) =>
      world.db.query('update activity set deliver_at = $2 where id = any($1::int[])', [ids, at]);
    await move([first!.id, group], due(1));
    const last = others.map(({ id }) => id);
    await move(last, due(5));
    await world.processEvents();
    await cancel([first!.id]);
    await world.processEvents();
    world.clock.advance(2 * 3_600_000);
    expect((await get(`/activities/${group}`)).body).toMatchObject({
      activity_status: 'scheduled',
      delivery_time: null,
    });
    expect(await isFoundAs('scheduled', group)).toBe(true);
    expect(await isFoundAs('undelivered', group)).toBe(false);
    world.clock.advance(4 * 3_600_000);
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('undelivered');
  });
});

describe('an unapproved group', () => {
  it('stays unapproved as long as one of its operations is', async () => {
    const group = await act(['web', 'db']);
    await world.db.query(`update activity set status = 'unapproved' where id = $1 or parent_id = $1`, [group]);
    const [first, second] = await childrenOf(world.db, group);
    await cancel([first!.id]);
    await world.processEvents();
    expect((await get(`/activities/${group}`)).body).toMatchObject({
      activity_status: 'unapproved',
      delivery_time: null,
      actions: { approvable: true },
    });
    await world.db.query(`update activity set status = 'undelivered' where id = $1`, [second!.id]);
    const other = await act(['web', 'db']);
    const [unapproved] = await childrenOf(world.db, other);
    await world.db.query(`update activity set status = 'unapproved' where id = any($1)`, [[other, unapproved!.id]]);
    await cancel([unapproved!.id]);
    await world.processEvents();
    expect((await get(`/activities/${other}`)).body).toMatchObject({
      activity_status: 'undelivered',
      delivery_time: null,
    });
  });
});

describe('a group that has ended', () => {
  it('is canceled where one operation was canceled and the others succeeded', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    const [first] = await childrenOf(world.db, group);
    await cancel([first!.id]);
    await world.processEvents();
    await report(group, null, true, true);
    expect((await get(`/activities/${group}`)).body).toMatchObject({ activity_status: 'canceled' });
    const query = encodeURIComponent(`id:${group}`);
    const [listed] = (await get(`/activities/parents?query=${query}`)).body.results;
    expect(listed).toMatchObject({ activity_status: 'canceled', children_statuses: { good: 2, warning: 0, bad: 1 } });
    expect([await isFoundAs('succeeded', group), await isFoundAs('canceled', group)]).toEqual([false, true]);
  });

  it('is canceled where a computer left and the other succeeded', async () => {
    const leaving = await aComputer('leaves');
    const group = await act([], { computer_ids: [leaving, world.ids['web']] });
    await world.processEvents();
    await remove(leaving);
    await report(group, null, true);
    expect((await get(`/activities/${group}`)).body).toMatchObject({ activity_status: 'canceled' });
  });

  it('is failed where one failed, whatever became of the others', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    const [first] = await childrenOf(world.db, group);
    await cancel([first!.id]);
    await report(group, null, false, true);
    expect((await get(`/activities/${group}`)).body).toMatchObject({ activity_status: 'failed' });
  });
});
