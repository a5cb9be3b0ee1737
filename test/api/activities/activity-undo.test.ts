import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityVerbs, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { insist } from '../../support/http/app.ts';

let world: FleetWorld;
const { processGroup, verb, detail, act, end, messagesOf, unchanged } = activityVerbs(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

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

  it('undoes what succeeded of a group with failures, and names the rest with the reason', async () => {
    const { accountId } = world;
    const leaving = await insertComputer(world.db, { accountId, title: 'leaving', group: 'servers' });
    const archived = await insertComputer(world.db, { accountId, title: 'put away', group: 'desktops' });
    const idle = await insertComputer(world.db, { accountId, title: 'idle', group: 'servers' });
    const of = (title: string) => world.ids[title]!;
    const computer_ids = [of('web'), of('db'), leaving, archived, idle, of('desk')];
    const old = await act([], { computer_ids });
    const [web, db, left, away, none, desk] = (await childrenOf(world.db, old)).map(({ id }) => id);
    await verb('cancel', [desk]);
    await end(old, true, false, true, true, true, null);
    await world.db.query('insert into snap_operation_before values ($1, $2, $3, true)', [none, idle, { hello: null }]);
    const token = world.tokens.admin;
    await world.app.call('POST', '/computers:delete', { token, body: { computer_ids: [leaving] } });
    await world.db.query('update computer set archived = true where id = $1', [archived]);
    expect(await detail(old)).toMatchObject({ activity_status: 'failed', actions: { revertable: true } });
    const { status, body } = await verb('revert', [old]);
    expect({ status, body }).toEqual({ status: 200, body: [expect.any(Number)] });
    const rest = [
      { activity_id: db, computer_id: of('db'), computer_title: 'db', reason: 'failed' },
      { activity_id: left, computer_id: leaving, computer_title: 'leaving', reason: 'computer_gone' },
      { activity_id: away, computer_id: archived, computer_title: 'put away', reason: 'computer_gone' },
      { activity_id: none, computer_id: idle, computer_title: 'idle', reason: 'unchanged' },
      { activity_id: desk, computer_id: of('desk'), computer_title: 'desk', reason: 'canceled' },
    ];
    const made = await detail(body[0]);
    expect(made).toMatchObject({ reverts: old, not_reverted: rest });
    expect(made.children).toMatchObject([{ type: 'RemoveSnaps', computer_id: of('web'), computer_title: 'web' }]);
    expect(await detail(web!)).toMatchObject({ reverted_by: made.children[0].id, actions: { revertable: false } });
    expect(await detail(old)).toMatchObject({ reverted_by: made.id, actions: { revertable: false } });
    expect((await unchanged(() => verb('revert', [old]))).body).toMatchObject({ error: 'ActivityNotEligible' });
    const seen = (await detail(made.id, world.tokens.servers)).not_reverted;
    expect(seen.map((one: { computer_title: string }) => one.computer_title)).toEqual(['db', 'leaving', 'idle']);
    const [event] = (await world.app.call('GET', '/events?search=Reverted&limit=1', { token })).body.results;
    expect(event.message).toContain(
      `, without 5 of its 6 operations: ${db} (failed), ${left} (its computer was removed)`,
    );
    await end(made.id, true);
    const [again] = (await verb('reapply', [made.id])).body;
    expect(await detail(again)).not.toHaveProperty('not_reverted');
    expect(await detail(old)).not.toHaveProperty('not_reverted');
    await end(again, true);
  });

  it('lists nothing as omitted by a revert of everything, and leaves out what was undone before', async () => {
    const old = await act(['web', 'db']);
    await end(old, true);
    const [web, db] = await childrenOf(world.db, old);
    const [first] = (await verb('revert', [web!.id])).body;
    expect((await detail(first)).not_reverted).toEqual([]);
    const [second] = (await verb('revert', [old])).body;
    expect((await detail(second)).not_reverted).toEqual([
      { activity_id: web!.id, computer_id: world.ids['web'], computer_title: 'web', reason: 'reverted' },
    ]);
    expect(await detail(db!.id)).toMatchObject({ actions: { revertable: false } });
    const query = encodeURIComponent(`id:${second}`);
    const { results } = (await world.app.call('GET', `/activities?query=${query}`, { token: world.tokens.admin })).body;
    expect(results[0].not_reverted).toHaveLength(1);
  });

  it('rejects a group whose computers have all left, and an operation of one that has', async () => {
    const computers = await Promise.all(
      ['one', 'two'].map((title) => insertComputer(world.db, { accountId: world.accountId, title })),
    );
    const old = await act([], { computer_ids: computers });
    await end(old, true);
    await world.db.query('update computer set archived = true where id = any($1)', [computers]);
    const [child] = await childrenOf(world.db, old);
    for (const id of [old, child!.id]) {
      expect((await detail(id)).actions.revertable).toBe(false);
      const { body } = await unchanged(() => verb('revert', [id]));
      expect(body).toMatchObject({ error: 'ActivityNotEligible', details: [{ id }] });
    }
  });

  it('undoes nothing twice, also when the one that failed is repeated', async () => {
    const old = await act(['web']);
    await end(old, true);
    const [revert] = (await verb('revert', [old])).body;
    await end(revert, false);
    const isRevertable = async () => (await detail(old)).actions.revertable;
    expect(await isRevertable()).toBe(true);
    const [again] = (await verb('reapply', [revert])).body;
    expect(await detail(again)).toMatchObject({ reverts: old, reapplied_from: revert });
    expect(await detail(old)).toMatchObject({ reverted_by: again, actions: { revertable: false } });
    expect((await unchanged(() => verb('revert', [old]))).body.error).toBe('ActivityNotEligible');
    await end(again, false);
    expect(await isRevertable()).toBe(true);
    const [last] = (await verb('reapply', [again])).body;
    await end(last, true);
    expect(await isRevertable()).toBe(false);
  });

  it('leaves to undo what a repetition of one of two steps does not undo', async () => {
    const old = await act(['web'], { action: 'hold', snaps: [{ name: 'a' }, { name: 'b' }] });
    await end(old, true);
    const [child] = await childrenOf(world.db, old);
    const before = { a: '2090-01-01T00:00:00Z', b: null };
    await world.db.query('insert into snap_operation_before values ($1, $2, $3, false)', [
      child!.id,
      world.ids['web'],
      before,
    ]);
    const [revert] = (await verb('revert', [old])).body;
    const [hold, unhold] = await childrenOf(world.db, revert);
    expect(unhold).toMatchObject({ blocked_by: hold!.id });
    await end(revert, false, null);
    const [alone] = (await verb('reapply', [hold!.id])).body;
    await end(alone, true);
    expect((await detail(child!.id)).actions.revertable).toBe(true);
    const [other] = (await verb('reapply', [unhold!.id])).body;
    await end(other, true);
    expect((await detail(child!.id)).actions.revertable).toBe(false);
    const [whole] = (await verb('reapply', [revert])).body;
    expect((await detail(child!.id)).actions.revertable).toBe(false);
    await end(whole, false, null);
  });

  it('STATE-bad: undoes once for 20 requests at once, and again only when that failed', async () => {
    const old = await act(['web', 'db']);
    await end(old, true);
    const [child] = await childrenOf(world.db, old);
    const requested = Array.from({ length: 20 }, (_, i) =>
      insist(() => verb('revert', [i % 4 === 3 ? child!.id : old])),
    );
    const responses = await Promise.all(requested);
    const reverts = await world.db.query<{ origin: number; count: number }>(
      `select reverts as origin, count(*)::int as count from activity
       where reverts in (select id from activity where parent_id = $1) and parent_id is not null group by reverts`,
      [old],
    );
    expect(reverts.length).toBe(2);
    // A group of one child's revert points at that child too, but is nobody's child itself.
    expect(reverts.map(({ count: n }) => n)).toEqual([1, 1]);
    for (const { status, body } of responses.filter((response) => response.status !== 200)) {
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'ActivityNotEligible' });
    }
    for (const { body } of responses.filter(({ status }) => status === 200)) {
      await processGroup(body[0]);
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
    const response = await unchanged(() => verb('revert', [old, child!.id]));
    expect(response.body).toMatchObject({ error: 'ActivityNotEligible', details: [{ id: child!.id }] });
    const both = (await verb('revert', [child!.id, old])).body;
    expect(await Promise.all(both.map(async (id: number) => (await messagesOf(id)).length))).toEqual([1, 1]);
  });

  it.each([
    ['failed', [false], {}],
    ['still open', [null], {}],
    ['still open in part', [true, null], {}],
    ['without an inverse', [true], { action: 'remove' }],
  ])('STATE-bad: rejects what is %s', async (_, outcomes, over) => {
    const old = await act(['web', 'db'], over);
    await end(old, ...(outcomes as boolean[]));
    expect((await detail(old)).actions.revertable).toBe(false);
    const response = await unchanged(() => verb('revert', [old]));
    expect(response).toMatchObject({ status: 400, body: { error: 'ActivityNotEligible', details: [{ id: old }] } });
  });
});
