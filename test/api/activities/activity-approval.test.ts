import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityVerbs, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;
const { processGroup, verb, detail, act, end, unchanged } = activityVerbs(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
  await world.db.query(`
    create function require_approval() returns trigger language plpgsql as $$
      begin
        new.status = 'unapproved';
        return new;
      end $$`);
});
afterAll(() => world?.close());

describe('POST /activities/approve', () => {
  /** No rule of the product requires approval yet. */
  async function unapproved(computers: string[]): Promise<number> {
    await world.db.query(
      'create trigger require_approval before insert on activity for each row execute function require_approval()',
    );
    const group = await act(computers);
    await world.db.query('drop trigger require_approval on activity');
    return group;
  }

  it('lets what waits for approval go, a group as a whole', async () => {
    const group = await unapproved(['web', 'db']);
    expect(await detail(group)).toMatchObject({ activity_status: 'unapproved', actions: { approvable: true } });
    expect((await childrenOf(world.db, group)).map(({ message }) => message)).toEqual([null, null]);
    expect((await verb('approve', [group, group])).body).toEqual([group]);
    const now = world.clock.now().toISOString().replace('.000', '');
    expect(await detail(group)).toMatchObject({ activity_status: 'undelivered', approval_time: now });
    for (const child of await childrenOf(world.db, group)) {
      expect(child).toMatchObject({ status: 'undelivered', message: 'queued' });
      expect(await detail(child.id)).toMatchObject({ approval_time: now });
    }
    expect((await unchanged(() => verb('approve', [group]))).body.error).toBe('ActivityNotEligible');
    await end(group, true);
    expect((await detail(group)).activity_status).toBe('succeeded');
  });

  it('leaves a step that follows another waiting, and can cancel what was not approved', async () => {
    const group = await unapproved(['web', 'db', 'desk']);
    const [one, two, three] = await childrenOf(world.db, group);
    await world.db.query('update activity set blocked_by = $1 where id = $2', [one!.id, two!.id]);
    expect((await verb('approve', [two!.id])).status).toBe(200);
    expect((await verb('cancel', [three!.id])).status).toBe(200);
    await processGroup(group);
    const statuses = (await childrenOf(world.db, group)).map(({ status }) => status);
    expect(statuses).toEqual(['unapproved', 'waiting', 'canceled']);
  });

  it('lets a group go with the last of its operations', async () => {
    const group = await unapproved(['web', 'db']);
    const [one, two] = await childrenOf(world.db, group);
    expect((await verb('approve', [two!.id])).status).toBe(200);
    expect(await detail(group)).toMatchObject({
      ...{ activity_status: 'unapproved', approval_time: null },
      actions: { approvable: true },
    });
    expect((await verb('approve', [one!.id])).status).toBe(200);
    const now = world.clock.now().toISOString().replace('.000', '');
    expect(await detail(group)).toMatchObject({ activity_status: 'undelivered', approval_time: now });
    expect((await detail(group)).actions.approvable).toBe(false);
  });

  it('STATE-bad: rejects what somebody canceled, before the batches have seen the cancel', async () => {
    const group = await unapproved(['web', 'db']);
    const [one, two] = await childrenOf(world.db, group);
    expect((await verb('cancel', [one!.id])).status).toBe(200);
    const response = await unchanged(() => verb('approve', [one!.id]));
    expect(response).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: one!.id }] } });
    expect((await verb('approve', [group])).body).toEqual([group]);
    expect((await childrenOf(world.db, group)).map(({ message }) => message)).toEqual([null, 'queued']);
    expect((await verb('cancel', [group])).status).toBe(200);
    await processGroup(group);
    expect((await detail(group)).activity_status).toBe('canceled');
    expect((await detail(two!.id)).activity_status).toBe('canceled');
  });

  it('STATE-bad: rejects what needs none', async () => {
    const group = await act(['web']);
    const waits = await unapproved(['web']);
    const response = await unchanged(() => verb('approve', [waits, group]));
    expect(response).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: group }] } });
    expect((await detail(waits)).activity_status).toBe('unapproved');
  });
});
