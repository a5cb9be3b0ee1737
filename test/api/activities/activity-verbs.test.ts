import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityVerbs, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertComputer } from '../../support/computers/computers.ts';

let world: FleetWorld;
const { processGroup, verb, detail, act, end, messagesOf, unchanged } = activityVerbs(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

describe('POST /activities/reapply', () => {
  it('repeats every operation of a group with the same parameters, both pointing at each other', async () => {
    const old = await act(['web', 'db'], { snaps: [{ name: 'hello', channel: 'latest/edge' }] });
    await end(old, true, false);
    const { status, body } = await verb('reapply', [old, old]);
    expect(status).toBe(200);
    const [repeated] = body;
    expect(body).toEqual([repeated]);
    expect(await detail(old)).toMatchObject({ reapplied_by: repeated, reapplied_from: null, reverted_by: null });
    const fresh = await detail(repeated);
    expect(fresh).toMatchObject({
      type: 'ActivityGroup',
      summary: 'Install snaps on computer',
      activity_status: 'undelivered',
      reapplied_from: old,
      reverts: null,
      creator: { id: world.adminId },
      parent_id: null,
    });
    expect(await messagesOf(repeated)).toEqual(await messagesOf(old));
    const [first] = fresh.children;
    const [origin] = await childrenOf(world.db, old);
    expect(await detail(first.id)).toMatchObject({ reapplied_from: origin!.id });
    expect(await detail(origin!.id)).toMatchObject({ reapplied_by: first.id });
    await processGroup(repeated);
    await end(repeated, true);
    expect(await detail(repeated)).toMatchObject({ activity_status: 'succeeded' });
    expect(await detail(old)).toMatchObject({ activity_status: 'failed' });
  });

  it('repeats of a child only itself', async () => {
    const old = await act(['web', 'db']);
    await end(old, true);
    const [child] = await childrenOf(world.db, old);
    const { body } = await verb('reapply', [child!.id]);
    const fresh = await detail(body[0]);
    expect(fresh).toMatchObject({ summary: 'Install snaps on computer', reapplied_from: child!.id });
    expect(fresh.children).toHaveLength(1);
    expect(await messagesOf(body[0])).toMatchObject([{ computer_id: world.ids['web'], type: 'InstallSnaps' }]);
    expect(await detail(child!.id)).toMatchObject({ reapplied_by: body[0] });
  });

  it('returns ids in the order requested, and starts a workflow for each', async () => {
    const olds = [await act(['web']), await act(['db']), await act(['desk'])].reverse();
    for (const old of olds) await end(old, true);
    const { body } = await verb('reapply', olds);
    expect((await Promise.all(body.map((id: number) => detail(id)))).map((a) => a.reapplied_from)).toEqual(olds);
    const commands = await world.db.query<{ key: string }>(`select key from outbox where kind = 'start'`);
    expect(commands.map(({ key }) => Number(key))).toEqual(expect.arrayContaining(body));
  });

  it('waits again for the step before, and keeps the random window', async () => {
    const old = await act(['web', 'db'], { deliver_after_window: 30 });
    const rows = await childrenOf(world.db, old);
    await world.db.query('update activity set blocked_by = $1, delay_seconds = 60, computer_id = $3 where id = $2', [
      rows[0]!.id,
      rows[1]!.id,
      world.ids['web'],
    ]);
    await end(old, true);
    const { body } = await verb('reapply', [old]);
    expect(await detail(body[0])).toMatchObject({ deliver_delay_window: 30, deliver_after_time: null });
    const [one, two] = await childrenOf(world.db, body[0]);
    expect(one).toMatchObject({ status: 'undelivered', blocked_by: null });
    expect(two).toMatchObject({ status: 'waiting', blocked_by: one!.id });
    const ahead = one!.deliver_at!.getTime() - world.clock.now().getTime();
    expect(ahead).toBeGreaterThanOrEqual(0);
    expect(ahead).toBeLessThanOrEqual(30 * 60_000);
  });

  it('leaves an event for each', async () => {
    const old = await act(['web']);
    await end(old, true);
    const { body } = await verb('reapply', [old]);
    const events = await world.app.call('GET', '/events?days=1', { token: world.tokens.admin });
    expect(events.body.results[0]).toMatchObject({
      entity_id: old,
      message: `Reapplied the activity "Install snaps on computer" (${old}) with activity ${body[0]}`,
    });
  });

  it('repeats what was canceled before it went out', async () => {
    const old = await act(['web']);
    await verb('cancel', [old]);
    await processGroup(old);
    const { body } = await verb('reapply', [old]);
    await processGroup(body[0]);
    expect((await childrenOf(world.db, body[0]))[0]).toMatchObject({ status: 'undelivered', message: 'queued' });
  });

  it('STATE-bad: rejects what is still running, and everything with it', async () => {
    const [ended, running] = [await act(['web']), await act(['db'])];
    await end(ended, true);
    const response = await unchanged(() => verb('reapply', [ended, running]));
    expect(response).toMatchObject({
      status: 400,
      body: { error: 'ActivityNotEligible', details: [{ id: running }] },
    });
    expect(await detail(ended)).toMatchObject({ reapplied_by: null });
  });

  it('rejects what makes keys, and computers that cannot do it any more', async () => {
    const key = await act(['web']);
    await end(key, true);
    await world.db.query(`update activity set type = 'GenerateFDERecoveryKeyRequest' where parent_id = $1`, [key]);
    await world.db.query(`update activity set child_types = '{GenerateFDERecoveryKeyRequest}' where id = $1`, [key]);
    expect((await detail(key)).actions.reappliable).toBe(false);
    const removed = await act(['desk']);
    await end(removed, true);
    await world.db.query('update computer set archived = true where id = $1', [world.ids['desk']]);
    expect((await detail(removed)).actions).toMatchObject({ reappliable: false, revertable: false });
    const response = await unchanged(() => verb('reapply', [removed, key]));
    expect(response.body.details.map(({ id }: { id: number }) => id)).toEqual([key]);
    expect((await unchanged(() => verb('reapply', [removed]))).body).toMatchObject({
      error: 'ActivityNotEligible',
      details: [{ id: removed, message: 'one of its computers is archived or removed' }],
    });
    await world.db.query('update computer set archived = false where id = $1', [world.ids['desk']]);
  });

  it('names every activity whose computer cannot do it any more', async () => {
    const { accountId } = world;
    const ids: number[] = [];
    for (let n = 0; n < 101; n++) {
      const computer = await insertComputer(world.db, { accountId, title: `gone ${n}`, archived: true });
      const [row] = await world.db.query<{ id: number }>(
        `insert into activity (account_id, type, summary, status, computer_id)
         values ($1, 'InstallSnaps', 'gone', 'succeeded', $2) returning id`,
        [accountId, computer],
      );
      ids.push(row!.id);
    }
    const { body } = await unchanged(() => verb('reapply', ids));
    expect(body.error).toBe('ActivityNotEligible');
    expect(body.details.map(({ id }: { id: number }) => id)).toEqual(ids);
  });
});

describe.each(['reapply', 'revert', 'approve'] as const)('%s rejects, and changes nothing:', (name) => {
  let own: number;
  beforeAll(async () => {
    own = await act(['web', 'desk']);
    await end(own, true);
  });

  it('BATCH-mixed: one id of another account among own ones', async () => {
    const foreign = await world.db.query<{ id: number }>(
      `insert into activity (account_id, type, summary, status, computer_id)
       select account_id, 'InstallSnaps', 'foreign', 'succeeded', id from computer where id = $1 returning id`,
      [world.ids['foreign']],
    );
    for (const id of [foreign[0]!.id, 999_999_999]) {
      const response = await unchanged(() => verb(name, [own, id]));
      expect(response).toMatchObject({ status: 404, body: { error: 'UnknownActivity', details: [{ id }] } });
    }
    await world.db.query(`delete from activity where summary = 'foreign'`);
  });

  it.each(['auditor', 'mixed', 'servers'] as const)('%s on a computer they may not manage', async (who) => {
    expect((await detail(own, world.tokens[who])).actions).toMatchObject({ reappliable: false, revertable: false });
    const response = await unchanged(() => verb(name, [own], world.tokens[who]));
    expect(response).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
  });

  it.each([[[]], [[0]], [['1']], [1], [Array(1001).fill(1)], [null], [[2 ** 31]]])('ID-bad: %j', async (ids) => {
    const response = await unchanged(() => verb(name, ids));
    expect(response).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
  });
});
