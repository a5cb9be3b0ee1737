import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityGroups, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { PUBLIC_URL } from '../../support/http/app.ts';

let world: FleetWorld;
const { act, get, cancel, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const idsOf = (body: { results: Array<{ id: number }> }) => body.results.map(({ id }) => id);

const NO_ACTIONS = { approvable: false, cancelable: false, reappliable: false, revertable: false };

describe('GET /activities/{id}', () => {
  it('shows a parent with its children and every key, and no computer', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    await report(group, true, false, null);
    const { status, body } = await get(`/activities/${group}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: group,
      type: 'ActivityGroup',
      activity_status: 'delivered',
      parent_id: null,
      completion_time: null,
      delivery_time: '2026-11-21T12:00:00Z',
      modification_time: '2026-11-21T12:00:00Z',
      deliver_after_time: null,
      deliver_before_time: null,
      schedule_before_time: null,
      schedule_after_time: null,
      package_ids: [],
      changes: [],
      actions: { ...NO_ACTIONS, cancelable: true },
    });
    const texts = body.children.map((c: { activity_status: string; result_text: string }) => [
      c.activity_status,
      c.result_text,
    ]);
    expect(texts).toEqual([
      ['succeeded', 'done'],
      ['failed', 'no such snap'],
      ['undelivered', null],
    ]);
  });

  it('names the computer of each child, also in lists and of one that was removed', async () => {
    const { accountId } = world;
    const leaving = await insertComputer(world.db, { accountId, title: 'leaving', group: 'servers' });
    const group = await act([], { computer_ids: [world.ids['web'], leaving] });
    await world.processEvents();
    const token = world.tokens.admin;
    await world.app.call('POST', '/computers:delete', { token, body: { computer_ids: [leaving] } });
    await world.processEvents();
    const expected = [
      { computer_id: world.ids['web'], computer_title: 'web', cancel_requested: false },
      { computer_id: leaving, computer_title: 'leaving', cancel_requested: false },
    ];
    const query = encodeURIComponent(`id:${group}`);
    const shown = [
      (await get(`/activities/${group}`)).body,
      (await get(`/activities?query=${query}`)).body.results[0],
      (await get(`/activities/${group}`, world.tokens.servers)).body,
    ];
    for (const { children } of shown) expect(children).toMatchObject(expected);
    const of = (await get(`/computers/activities?computer_ids=${world.ids['web']}`)).body.results;
    expect(of.find(({ id }: { id: number }) => id === group).children).toMatchObject(expected);
    await world.db.query('delete from removed_computer where id = $1', [leaving]);
    const children = (await get(`/activities/${group}`)).body.children;
    expect(children[1]).toMatchObject({ computer_id: leaving, computer_title: null });
  });

  it('reports when a group was delivered whose result came in the same moment', async () => {
    const group = await act(['web']);
    await world.processEvents();
    await report(group, false);
    const { body } = await get(`/activities/${group}`);
    expect(body).toMatchObject({ activity_status: 'failed', delivery_time: '2026-11-21T12:00:00Z' });
  });

  it('shows an operation with what became of it', async () => {
    const group = await act(['web']);
    await world.processEvents();
    await report(group, true);
    const [child] = await childrenOf(world.db, group);
    const { body } = await get(`/activities/${child!.id}`);
    expect(body).toMatchObject({
      type: 'InstallSnaps',
      summary: 'Install snap hello',
      parent_id: group,
      computer_id: world.ids['web'],
      activity_status: 'succeeded',
      result_text: 'done',
      result_code: null,
      delivery_time: '2026-11-21T12:00:00Z',
      completion_time: '2026-11-21T12:00:00Z',
      children: [],
      actions: { ...NO_ACTIONS, reappliable: true, revertable: true },
    });
  });

  const limit = (bound: number | null) =>
    world.db.query('update account set max_message_backlog = $2 where id = $1', [world.accountId, bound]);

  const emptyQueues = async () => {
    await world.processEvents(true);
    await world.db.query(`update agent_message set state = 'acked'`);
  };

  it('shows an operation beyond the backlog limit as waiting, and its group while nothing else is to do', async () => {
    await emptyQueues();
    await limit(1);
    const first = await act(['web']);
    const group = await act(['web', 'db']);
    const shown = async () => {
      const { body } = await get(`/activities/${group}`);
      return [body.activity_status, ...body.children.map((c: { activity_status: string }) => c.activity_status)];
    };
    expect(await shown()).toEqual(['undelivered', 'waiting', 'undelivered']);
    await limit(0);
    expect(await shown()).toEqual(['waiting', 'waiting', 'waiting']);
    await world.processEvents();
    expect(await shown()).toEqual(['waiting', 'waiting', 'waiting']);
    await limit(null);
    expect(await shown()).toEqual(['undelivered', 'undelivered', 'undelivered']);
    await cancel([first, group]);
    await world.processEvents();
  });

  it('shows a group as scheduled while all that is due has no room and the rest is due later', async () => {
    await emptyQueues();
    await limit(0);
    const group = await act(['web', 'db'], { deliver_after_window: 60 });
    await world.processEvents();
    const [due, later] = (await childrenOf(world.db, group)).map(({ id }) => id);
    const soon = new Date(world.clock.now().getTime() + 60_000);
    await world.db.query('update activity set deliver_at = $2 where id = any($1::int[])', [
      [group, due],
      world.clock.now(),
    ]);
    await world.db.query('update activity set deliver_at = $2 where id = $1', [later, soon]);
    const shown = async () => {
      const { body } = await get(`/activities/${group}`);
      const status: string = body.activity_status;
      for (const path of ['/activities', '/activities/parents']) {
        expect(idsOf((await get(`${path}?query=status%3A${status}`)).body)).toContain(group);
      }
      return [status, ...body.children.map((c: { activity_status: string }) => c.activity_status)];
    };
    expect(await shown()).toEqual(['scheduled', 'waiting', 'scheduled']);
    await world.db.query('update activity set deliver_at = $2 where id = $1', [later, world.clock.now()]);
    expect(await shown()).toEqual(['waiting', 'waiting', 'waiting']);
    await limit(1);
    expect(await shown()).toEqual(['undelivered', 'undelivered', 'undelivered']);
    await limit(null);
    await cancel([group]);
    await world.processEvents();
  });

  it.each(['999999999', '0', '-1', '1.5', 'x', '9007199254740993', '99999999999999999999', '%D9%A1'])(
    'returns 404 for id %s (ID-bad)',
    async (id) => {
      const { status, body } = await get(`/activities/${id}`);
      expect(status).toBe(404);
      expect(body.error).toMatch(/^(UnknownActivity|NotFound)$/);
    },
  );

  it('returns the same for an activity of another account as for none', async () => {
    const group = await act(['web']);
    const foreign = await get(`/activities/${group}`, world.tokens.foreign);
    const none = await get('/activities/999999999', world.tokens.foreign);
    expect(foreign.status).toBe(404);
    expect(foreign.text.replaceAll(String(group), '999999999')).toBe(none.text);
  });
});

describe('GET /activities/parents', () => {
  it('counts children by outcome and names the only computer', async () => {
    const several = await act(['web', 'db', 'desk']);
    const one = await act(['db']);
    await world.processEvents();
    await report(several, true, false, null);
    const { body } = await get('/activities/parents?limit=2');
    expect(idsOf(body)).toEqual([one, several]);
    expect(body.results[0]).toMatchObject({
      children_count: 1,
      computer_count: 1,
      computer: { id: world.ids['db'], title: 'db' },
      children_statuses: { good: 0, warning: 1, bad: 0 },
    });
    expect(body.results[1]).toMatchObject({
      children_count: 3,
      computer_count: 3,
      computer: null,
      children_statuses: { good: 1, warning: 1, bad: 1 },
      activity_status: 'delivered',
    });
    expect(body.next).toBe(`${PUBLIC_URL}/api/v2/activities/parents?limit=2&offset=2`);
  });

  it('ends failed when any child failed, at the time of the last', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    await report(group, true, null);
    world.clock.advance(60_000);
    await report(group, null, false);
    const [row] = (await get('/activities/parents?limit=1')).body.results;
    expect(row).toMatchObject({ id: group, activity_status: 'failed' });
    expect(row.completion_time).toBe(world.clock.now().toISOString().replace('.000', ''));
  });

  it('name the only computer also when that is removed', async () => {
    const { accountId, tokens, app, db } = world;
    const id = await insertComputer(db, { accountId, title: 'short-lived' });
    const body = { action: 'install', computer_ids: [id], snaps: [{ name: 'hello' }] };
    const group = (await app.call('POST', '/snaps', { token: tokens.admin, body })).body.id;
    await app.call('POST', '/computers:delete', { token: tokens.admin, body: { computer_ids: [id] } });
    const { results } = (await get('/activities/parents')).body;
    expect(results.find((parent: { id: number }) => parent.id === group)).toMatchObject({
      computer_count: 1,
      computer: { id, title: 'short-lived' },
    });
  });
});

describe('GET /activities', () => {
  it('lists parents and operations flat, newest first, with their count', async () => {
    const group = await act(['web', 'db']);
    const children = (await childrenOf(world.db, group)).map(({ id }) => id);
    const { body } = await get('/activities?limit=3');
    expect(idsOf(body)).toEqual([...children, group].sort((a, b) => b - a));
    const [row] = await world.db.query<{ count: number }>('select count(*) from activity where account_id = $1', [
      world.accountId,
    ]);
    expect(body.count).toBe(row!.count);
    const parent = body.results.find(({ id }: { id: number }) => id === group);
    expect(parent.children.map(({ id }: { id: number }) => id)).toEqual(children);
  });

  it('walks every activity once by its links', async () => {
    const seen: number[] = [];
    let path: string | undefined = '/activities?limit=7';
    while (path) {
      const { body } = await get(path);
      seen.push(...idsOf(body));
      path = body.next?.slice(PUBLIC_URL.length);
    }
    const rows = await world.db.query<{ id: number }>(
      'select id from activity where account_id = $1 order by id desc',
      [world.accountId],
    );
    expect(seen).toEqual(rows.map(({ id }) => id));
  });

  it('shows an empty page beyond the end', async () => {
    const { body } = await get('/activities?offset=1000000');
    expect(body).toMatchObject({ results: [], next: null });
  });

  it.each(['limit=-1', 'limit=1.5', 'limit=NaN', 'limit=1e9', 'offset=-1', 'limit=1&limit=2'])(
    'rejects %s (PAGE-bad)',
    async (query) => {
      expect((await get(`/activities?${query}`)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    },
  );
});
