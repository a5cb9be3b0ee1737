import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityGroups, addEvent, aLoneOperation, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;
const { act, get, cancel, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const NO_ACTIONS = { approvable: false, cancelable: false, reappliable: false, revertable: false };

describe('POST /activities/cancel', () => {
  it('takes back at once what no computer has, and cancels the rest', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const [first] = await childrenOf(world.db, group);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [first!.id]);
    const { status, body } = await cancel([group, group]);
    expect({ status, body }).toEqual({ status: 200, body: [group] });
    expect((await childrenOf(world.db, group)).map(({ message }) => message)).toEqual(['sent', 'withdrawn']);
    const commands = await world.db.query(`select key from outbox where kind = 'cancel'`);
    expect(commands).toContainEqual({ key: `activity/${group}` });
    await world.processEvents();
    expect((await get(`/activities/${group}`)).body).toMatchObject({
      activity_status: 'canceled',
      completion_time: world.clock.now().toISOString().replace('.000', ''),
      actions: { ...NO_ACTIONS, reappliable: true },
    });
  });

  it('shows at once what it accepted, and no longer once that is carried out', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const [first, second] = await childrenOf(world.db, group);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [first!.id]);
    /** Of the group and its operations, however they are read. */
    async function read(): Promise<unknown> {
      const { body } = await get(`/activities/${group}`);
      const all = (await get(`/activities?query=${encodeURIComponent(`id:${group} OR parent-id:${group}`)}`)).body
        .results;
      const parents = (await get(`/activities/parents?query=${encodeURIComponent(`id:${group}`)}`)).body.results;
      const shown = (one: { activity_status: string; cancel_requested: boolean }) =>
        one.cancel_requested ? `${one.activity_status}, cancel requested` : one.activity_status;
      const seen = [body, ...body.children].map(shown);
      const found = new Map(all.map((one: { id: number }) => [one.id, one]));
      expect([group, first!.id, second!.id].map((id) => shown(found.get(id) as typeof body))).toEqual(seen);
      expect(parents.map(shown)).toEqual([seen[0]]);
      expect((found.get(group) as typeof body).children.map(shown)).toEqual(seen.slice(1));
      return seen;
    }
    expect(await read()).toEqual(['undelivered', 'undelivered', 'undelivered']);
    await cancel([second!.id]);
    expect(await read()).toEqual(['undelivered', 'undelivered', 'undelivered, cancel requested']);
    await world.processEvents();
    expect(await read()).toEqual(['undelivered', 'undelivered', 'canceled']);
    await cancel([group]);
    expect(await read()).toEqual(['undelivered, cancel requested', 'undelivered, cancel requested', 'canceled']);
    await world.processEvents();
    expect(await read()).toEqual(['canceled', 'canceled', 'canceled']);
  });

  it('shows that at once on a group whose batches were never opened', async () => {
    const group = await act(['web', 'db']);
    await cancel([group]);
    const { body } = await get(`/activities/${group}`);
    expect([body, ...body.children].map((one: { cancel_requested: boolean }) => one.cancel_requested)).toEqual([
      true,
      true,
      true,
    ]);
    await world.processEvents();
  });

  it('cancels one operation of a group and its own workflow, and leaves the others', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const [first, second] = await childrenOf(world.db, group);
    await cancel([first!.id]);
    const keys = (await world.db.query<{ key: string }>(`select key from outbox where kind = 'cancel'`)).map(
      (o) => o.key,
    );
    expect(keys).toContain(`activity/${first!.id}`);
    expect(keys).not.toContain(`activity/${group}`);
    await world.processEvents();
    const statuses = (await childrenOf(world.db, group)).map(({ status }) => status);
    expect(statuses).toEqual(['canceled', 'undelivered']);
    expect((await cancel([second!.id])).status).toBe(200);
    await world.processEvents();
  });

  it('leaves the workflow of a batch of many alone when one operation of it is canceled', async () => {
    const rows = await world.db.query<{ id: number }>(
      `insert into computer (account_id, access_group_id, state, title)
       select account_id, access_group_id, 'approved', 'mass' from computer, generate_series(1, 30) where id = $1
       returning id`,
      [world.ids['web']],
    );
    const group = await act([], { computer_ids: rows.map(({ id }) => id) });
    const [first] = await childrenOf(world.db, group);
    await world.db.query(`delete from outbox where kind = 'cancel'`);
    await cancel([first!.id]);
    expect(await world.db.query(`select key from outbox where kind = 'cancel'`)).toEqual([]);
    await world.processEvents();
    const canceled = (await childrenOf(world.db, group)).filter(({ status }) => status === 'canceled');
    expect(canceled.map(({ id }) => id)).toEqual([first!.id]);
  });

  it('cancels an operation without a group through its own workflow', async () => {
    const { accountId } = world;
    const id = await aLoneOperation(world.db, { accountId, computer: world.ids['web']!, now: world.clock.now() });
    expect((await cancel([id])).body).toEqual([id]);
    const commands = await world.db.query(`select key from outbox where kind = 'cancel' and key = $1`, [
      `activity/${id}`,
    ]);
    expect(commands).toHaveLength(1);
    await world.processEvents();
    expect((await get(`/activities/${id}`)).body).toMatchObject({ activity_status: 'canceled', creator: null });
  });

  it('lets a late report replace canceled', async () => {
    const group = await act(['web']);
    await world.processEvents();
    const [child] = await childrenOf(world.db, group);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [child!.id]);
    expect((await cancel([group])).status).toBe(200);
    await world.processEvents();
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('canceled');
    await report(group, true);
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('succeeded');
  });

  it('does nothing twice for two requests at once (STATE-bad)', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    const responses = await Promise.all([cancel([group]), cancel([group]), cancel([group])]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    await world.processEvents();
    const [parent] = await world.db.query('select open_count, canceled_count from activity where id = $1', [group]);
    expect(parent).toEqual({ open_count: 0, canceled_count: 3 });
  });

  describe('rejects, and changes nothing', () => {
    async function unchanged(call: () => Promise<{ status: number; body: { error: string; details?: unknown } }>) {
      const state = () =>
        world.db.query(`select (select count(*) from agent_inbox) as pending, (select count(*) from outbox) as commands,
          (select count(*) from agent_message where state = 'withdrawn') as withdrawn`);
      const before = await state();
      const response = await call();
      expect(await state()).toEqual(before);
      return response;
    }

    it('STATE-bad: one that has ended among open ones', async () => {
      const open = await act(['web']);
      const ended = await act(['db']);
      await world.processEvents();
      await report(ended, true);
      const { status, body } = await unchanged(() => cancel([open, ended]));
      expect(status).toBe(400);
      expect(body).toMatchObject({
        error: 'ActivityNotEligible',
        details: [{ id: ended, message: 'has already ended' }],
      });
    });

    it('STATE-bad: one whose end is known and not processed yet, and a group only if all that is open has one', async () => {
      const [whole, part] = [await act(['web', 'db']), await act(['web', 'db'])];
      await world.processEvents();
      const ends = [...(await childrenOf(world.db, whole)), (await childrenOf(world.db, part))[0]!];
      for (const { id, lane_id: batch } of ends)
        await addEvent(world.db, {
          batch,
          activity: id,
          kind: 'result',
          ok: true,
          body: 'done',
          at: world.clock.now(),
        });
      for (const id of [whole, ends[0]!.id, ends[2]!.id]) {
        const { status, body } = await unchanged(() => cancel([id]));
        expect(status).toBe(400);
        expect(body).toMatchObject({ error: 'ActivityNotEligible', details: [{ id, message: 'has already ended' }] });
      }
      expect((await cancel([part])).status).toBe(200);
      await world.processEvents();
      const statuses = (await childrenOf(world.db, part)).map(({ status }) => status);
      expect(statuses).toEqual(['succeeded', 'canceled']);
    });

    it('BATCH-mixed: one that is unknown among open ones', async () => {
      const open = await act(['web']);
      const { status, body } = await unchanged(() => cancel([open, 999999999]));
      expect(status).toBe(404);
      expect(body).toMatchObject({ error: 'UnknownActivity', details: [{ id: 999999999 }] });
    });

    it('BATCH-mixed: one of another account', async () => {
      const open = await act(['web']);
      expect((await unchanged(() => cancel([open], world.tokens.foreign))).status).toBe(404);
    });

    it.each([
      ['auditor', 403],
      ['mixed', 403],
      ['servers', 403],
    ] as const)('%s on a computer they may not manage', async (who, status) => {
      const open = await act(['web', 'desk']);
      const response = await unchanged(() => cancel([open], world.tokens[who]));
      expect({ status: response.status, error: response.body.error }).toEqual({ status, error: 'Forbidden' });
    });

    it.each([[[]], [[0]], [['1']], [1], [Array(1001).fill(1)], [null]])('%j', async (ids) => {
      const { body } = await unchanged(() => cancel(ids));
      expect(body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    });
  });
});
