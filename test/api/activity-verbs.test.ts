import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childrenOf, tell } from '../support/activity-rows.ts';
import type { Answer } from '../support/app.ts';
import { createFleetWorld, type FleetWorld } from '../support/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

type Verb = 'reapply' | 'revert' | 'approve' | 'cancel';
async function settle(group: number): Promise<void> {
  const lanes = await world.db.query<{ id: number }>('select id from lane where parent_id = $1 order by id', [group]);
  for (const { id } of lanes) await world.store.advance(id, false);
}
const verb = (name: Verb, ids: unknown, token = world.tokens.admin) =>
  world.app.call('POST', `/activities/${name}`, { token, body: { activity_ids: ids } });
const detail = async (id: number, token = world.tokens.admin) =>
  (await world.app.call('GET', `/activities/${id}`, { token })).body;

async function act(computers: string[], over: object = {}): Promise<number> {
  const body = {
    action: 'install',
    computer_ids: computers.map((title) => world.ids[title]),
    snaps: [{ name: 'hello' }],
    ...over,
  };
  const answer = await world.app.call('POST', '/snaps', { token: world.tokens.admin, body });
  expect(answer.status).toBe(200);
  await settle(answer.body.id);
  return answer.body.id;
}

async function end(group: number, ...outcomes: Array<boolean | null>): Promise<void> {
  for (const [index, { lane_id, id }] of (await childrenOf(world.db, group)).entries()) {
    const ok = outcomes[index] ?? outcomes.at(-1)!;
    if (ok === null) continue;
    await tell(world.db, { lane: lane_id, activity: id, kind: 'result', ok, at: world.clock.now() });
  }
  await settle(group);
}

const messagesOf = (group: number) =>
  world.db.query(
    `select a.computer_id, a.type, p.message_type, p.fields from activity a join operation_payload p on p.id = a.payload_id
     where a.parent_id = $1 order by a.id`,
    [group],
  );
const count = async () => (await world.db.query('select count(*)::int as count from activity'))[0]!['count'];

async function unchanged(call: () => Promise<Answer>): Promise<Answer> {
  const before = await count();
  const answer = await call();
  expect(await count()).toBe(before);
  return answer;
}

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
    await settle(repeated);
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

  it('answers in the order asked for, and starts a workflow for each', async () => {
    const olds = [await act(['web']), await act(['db']), await act(['desk'])].reverse();
    for (const old of olds) await end(old, true);
    const { body } = await verb('reapply', olds);
    expect((await Promise.all(body.map((id: number) => detail(id)))).map((a) => a.reapplied_from)).toEqual(olds);
    const orders = await world.db.query<{ key: string }>(`select key from outbox where kind = 'start'`);
    expect(orders.map(({ key }) => Number(key))).toEqual(expect.arrayContaining(body));
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
    await settle(old);
    const { body } = await verb('reapply', [old]);
    await settle(body[0]);
    expect((await childrenOf(world.db, body[0]))[0]).toMatchObject({ status: 'undelivered', message: 'queued' });
  });

  it('STATE-bad: refuses what is still running, and everything with it', async () => {
    const [ended, running] = [await act(['web']), await act(['db'])];
    await end(ended, true);
    const answer = await unchanged(() => verb('reapply', [ended, running]));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'ActivityNotEligible', details: [{ id: running }] },
    });
    expect(await detail(ended)).toMatchObject({ reapplied_by: null });
  });

  it('refuses what makes keys, and computers that cannot do it any more', async () => {
    const key = await act(['web']);
    await end(key, true);
    await world.db.query(`update activity set type = 'GenerateFDERecoveryKeyRequest' where parent_id = $1`, [key]);
    await world.db.query(`update activity set child_types = '{GenerateFDERecoveryKeyRequest}' where id = $1`, [key]);
    expect((await detail(key)).actions.reappliable).toBe(false);
    const gone = await act(['desk']);
    await end(gone, true);
    await world.db.query('update computer set archived = true where id = $1', [world.ids['desk']]);
    expect((await detail(gone)).actions).toMatchObject({ reappliable: false, revertable: false });
    const answer = await unchanged(() => verb('reapply', [gone, key]));
    expect(answer.body.details.map(({ id }: { id: number }) => id)).toEqual([key]);
    expect((await unchanged(() => verb('reapply', [gone]))).body).toMatchObject({
      error: 'ActivityNotEligible',
      details: [{ id: gone, message: 'one of its computers is archived or gone' }],
    });
    await world.db.query('update computer set archived = false where id = $1', [world.ids['desk']]);
  });
});

describe('POST /activities/revert', () => {
  it('removes what was installed, both pointing at each other', async () => {
    const old = await act(['web', 'db'], { snaps: [{ name: 'hello', classic: true }, { name: 'jq' }] });
    await end(old, true);
    expect((await detail(old)).actions.revertable).toBe(true);
    const { status, body } = await verb('revert', [old]);
    expect(status).toBe(200);
    expect(await detail(body[0])).toMatchObject({ summary: 'Revert: Install snaps on computer', reverts: old });
    expect(await detail(old)).toMatchObject({ reverted_by: body[0], actions: { revertable: false } });
    const remove = {
      type: 'RemoveSnaps',
      message_type: 'remove-snaps',
      fields: { snaps: [{ name: 'hello' }, { name: 'jq' }] },
    };
    expect(await messagesOf(body[0])).toEqual(['web', 'db'].map((t) => ({ ...remove, computer_id: world.ids[t] })));
  });

  it('puts back exactly what was there before, on each computer its own', async () => {
    const until = '2027-01-01T00:00:00Z';
    const old = await act(['web', 'db', 'desk'], {
      action: 'hold',
      snaps: [{ name: 'a' }, { name: 'b', time: until }],
    });
    await end(old, true);
    const [web, db, desk] = await childrenOf(world.db, old);
    const keep = async (id: number, computer: string, snaps: object, idle = false) =>
      world.db.query('insert into snap_operation_before values ($1, $2, $3, $4)', [
        id,
        world.ids[computer],
        snaps,
        idle,
      ]);
    await keep(web!.id, 'web', { a: null, b: until });
    await keep(db!.id, 'db', { a: '2026-12-24T00:00:00Z', b: '2020-01-01T00:00:00Z' });
    await keep(desk!.id, 'desk', { a: 'forever', b: until }, true);
    const { body } = await verb('revert', [old]);
    const rows = await messagesOf(body[0]);
    expect(rows).toMatchObject([
      { computer_id: world.ids['web'], type: 'UnholdSnaps', fields: { snaps: [{ name: 'a' }] } },
      {
        computer_id: world.ids['db'],
        type: 'HoldSnaps',
        fields: { snaps: [{ name: 'a', args: { hold_level: 'general', time: '2026-12-24T00:00:00Z' } }] },
      },
      { computer_id: world.ids['db'], type: 'UnholdSnaps', fields: { snaps: [{ name: 'b' }] } },
    ]);
    const [, hold, unhold] = await childrenOf(world.db, body[0]);
    expect(unhold).toMatchObject({ blocked_by: hold!.id, status: 'waiting' });
    expect(await detail(db!.id)).toMatchObject({ reverted_by: unhold!.id });
    expect(await detail(desk!.id)).toMatchObject({ reverted_by: null, actions: { revertable: false } });
  });

  it('exchanges versions back, what the computer added included', async () => {
    const old = await act(['web']);
    const [child] = await childrenOf(world.db, old);
    await world.db.query(
      `update operation_payload set message_type = 'change-packages', fields = $2
       where id = (select payload_id from activity where id = $1)`,
      [child!.id, { install: [11], remove: [10], hold: [7], policy: 2 }],
    );
    await world.db.query(
      `update activity set type = 'UpgradeKernelPackageRequest', summary = 'Upgrade' where id = $1`,
      [child!.id],
    );
    await world.db.query(`update activity set child_types = '{UpgradeKernelPackageRequest}' where id = $1`, [old]);
    await world.db.query('insert into package_change_result values ($1, $2, $3, $4)', [
      child!.id,
      world.ids['web'],
      [12],
      [9],
    ]);
    await end(old, true);
    await world.db.query(
      `update activity set changes = '[{"package": "linux", "type": "hold", "complemented": false, "version": "1"}]' where id = $1`,
      [child!.id],
    );
    expect((await detail(child!.id)).actions.revertable).toBe(true);
    const { body } = await verb('revert', [child!.id]);
    expect(await messagesOf(body[0])).toMatchObject([
      {
        type: 'DowngradeKernelPackageRequest',
        message_type: 'change-packages',
        fields: { install: [10, 9], remove: [11, 12], 'remove-hold': [7], policy: 0 },
      },
    ]);
    const [inverse] = (await detail(body[0])).children;
    expect((await detail(inverse.id)).package_ids.sort((a: number, b: number) => a - b)).toEqual([7, 9, 10, 11, 12]);
  });

  it('STATE-bad: undoes once when 20 ask at once, and again only when that failed', async () => {
    const old = await act(['web', 'db']);
    await end(old, true);
    const [child] = await childrenOf(world.db, old);
    const asked = Array.from({ length: 20 }, (_, i) => verb('revert', [i % 4 === 3 ? child!.id : old]));
    const answers = await Promise.all(asked);
    const reverts = await world.db.query<{ origin: number; count: number }>(
      `select reverts as origin, count(*)::int as count from activity
       where reverts in (select id from activity where parent_id = $1) and parent_id is not null group by reverts`,
      [old],
    );
    expect(reverts.length).toBe(2);
    // A group of one child's revert points at that child too, but is nobody's child itself.
    expect(reverts.map(({ count: n }) => n)).toEqual([1, 1]);
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'ActivityNotEligible' });
    }
    for (const { body } of answers.filter(({ status }) => status === 200)) {
      await settle(body[0]);
      await end(body[0], true, false);
    }
    const state = async (id: number) => (await detail(id)).actions.revertable;
    const children = await childrenOf(world.db, old);
    const undone = await Promise.all(children.map(({ id }) => state(id)));
    if (undone.includes(true)) {
      expect(await state(old)).toBe(true);
      const { body } = await verb('revert', [old]);
      expect(await messagesOf(body[0])).toHaveLength(undone.filter(Boolean).length);
    }
    expect(await state(old)).toBe(false);
  });

  it('STATE-bad: does not take a group and its own child twice', async () => {
    const old = await act(['web', 'db']);
    await end(old, true);
    const [child] = await childrenOf(world.db, old);
    const answer = await unchanged(() => verb('revert', [old, child!.id]));
    expect(answer.body).toMatchObject({ error: 'ActivityNotEligible', details: [{ id: child!.id }] });
    const both = (await verb('revert', [child!.id, old])).body;
    expect(await Promise.all(both.map(async (id: number) => (await messagesOf(id)).length))).toEqual([1, 1]);
  });

  it.each([
    ['failed', [false], {}],
    ['failed in part', [true, false], {}],
    ['still open', [null], {}],
    ['without an inverse', [true], { action: 'remove' }],
  ])('STATE-bad: refuses what is %s', async (_, outcomes, over) => {
    const old = await act(['web', 'db'], over);
    await end(old, ...(outcomes as boolean[]));
    expect((await detail(old)).actions.revertable).toBe(false);
    const answer = await unchanged(() => verb('revert', [old]));
    expect(answer).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: old }] } });
  });
});

describe('POST /activities/approve', () => {
  async function unapproved(computers: string[]): Promise<number> {
    const group = await act(computers);
    await world.db.query(
      `delete from agent_message where activity_id in (select id from activity where parent_id = $1)`,
      [group],
    );
    await world.db.query(`update activity set status = 'unapproved' where id = $1 or parent_id = $1`, [group]);
    return group;
  }

  it('lets what waits for approval go, a group as a whole', async () => {
    const group = await unapproved(['web', 'db']);
    expect(await detail(group)).toMatchObject({ activity_status: 'unapproved', actions: { approvable: true } });
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

  it('leaves a step behind another waiting, and can cancel what was not approved', async () => {
    const group = await unapproved(['web', 'db', 'desk']);
    const [one, two, three] = await childrenOf(world.db, group);
    await world.db.query('update activity set blocked_by = $1 where id = $2', [one!.id, two!.id]);
    expect((await verb('approve', [two!.id])).status).toBe(200);
    expect((await verb('cancel', [three!.id])).status).toBe(200);
    await settle(group);
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

  it('STATE-bad: refuses what somebody canceled, before the lanes have seen the cancel', async () => {
    const group = await unapproved(['web', 'db']);
    const [one, two] = await childrenOf(world.db, group);
    expect((await verb('cancel', [one!.id])).status).toBe(200);
    const answer = await unchanged(() => verb('approve', [one!.id]));
    expect(answer).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: one!.id }] } });
    expect((await verb('approve', [group])).body).toEqual([group]);
    expect((await childrenOf(world.db, group)).map(({ message }) => message)).toEqual([null, 'queued']);
    expect((await verb('cancel', [group])).status).toBe(200);
    await settle(group);
    expect((await detail(group)).activity_status).toBe('canceled');
    expect((await detail(two!.id)).activity_status).toBe('canceled');
  });

  it('STATE-bad: refuses what needs none', async () => {
    const group = await act(['web']);
    const waits = await unapproved(['web']);
    const answer = await unchanged(() => verb('approve', [waits, group]));
    expect(answer).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: group }] } });
    expect((await detail(waits)).activity_status).toBe('unapproved');
  });
});

describe.each(['reapply', 'revert', 'approve'] as const)('%s refuses, and changes nothing:', (name) => {
  let own: number;
  beforeAll(async () => {
    own = await act(['web', 'desk']);
    await end(own, true);
  });

  it('BATCH-mixed: one foreign id among own ones', async () => {
    const foreign = await world.db.query<{ id: number }>(
      `insert into activity (account_id, type, summary, status, computer_id)
       select account_id, 'InstallSnaps', 'foreign', 'succeeded', id from computer where id = $1 returning id`,
      [world.ids['foreign']],
    );
    for (const id of [foreign[0]!.id, 999_999_999]) {
      const answer = await unchanged(() => verb(name, [own, id]));
      expect(answer).toMatchObject({ status: 404, body: { error: 'UnknownActivity', details: [{ id }] } });
    }
    await world.db.query(`delete from activity where summary = 'foreign'`);
  });

  it.each(['auditor', 'mixed', 'servers'] as const)('%s on a computer they may not manage', async (who) => {
    expect((await detail(own, world.tokens[who])).actions).toMatchObject({ reappliable: false, revertable: false });
    const answer = await unchanged(() => verb(name, [own], world.tokens[who]));
    expect(answer).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
  });

  it.each([[[]], [[0]], [['1']], [1], [Array(1001).fill(1)], [null], [[2 ** 31]]])('ID-bad: %j', async (ids) => {
    const answer = await unchanged(() => verb(name, ids));
    expect(answer).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
  });
});
