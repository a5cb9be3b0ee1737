import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOperation } from '../../src/persistence/repositories/activity-creation.repository.ts';
import { aChain, childrenOf, tell } from '../support/activity-rows.ts';
import { PUBLIC_URL } from '../support/app.ts';
import { createFleetWorld, type FleetWorld } from '../support/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

async function act(computers: string[], over: object = {}): Promise<number> {
  const body = {
    action: 'install',
    computer_ids: computers.map((title) => world.ids[title]),
    snaps: [{ name: 'hello' }],
  };
  const answer = await world.app.call('POST', '/snaps', { token: world.tokens.admin, body: { ...body, ...over } });
  expect(answer.status).toBe(200);
  return answer.body.id;
}
const get = (path: string, token = world.tokens.admin) => world.app.call('GET', path, { token });
const cancel = (ids: unknown, token = world.tokens.admin) =>
  world.app.call('POST', '/activities/cancel', { token, body: { activity_ids: ids } });
const idsOf = (body: { results: Array<{ id: number }> }) => body.results.map(({ id }) => id);

async function report(group: number, ...outcomes: Array<boolean | null>): Promise<void> {
  const children = await childrenOf(world.db, group);
  for (const [index, ok] of outcomes.entries()) {
    if (ok === null) continue;
    const { lane_id, id } = children[index]!;
    const text = ok ? 'done' : 'no such snap';
    await tell(world.db, { lane: lane_id, activity: id, kind: 'result', ok, body: text, at: world.clock.now() });
  }
  await world.settle();
}

const NO_ACTIONS = { approvable: false, cancelable: false, reappliable: false, revertable: false };

describe('GET /activities/{id}', () => {
  it('shows a parent with its children and every key', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.settle();
    await report(group, true, false, null);
    const { status, body } = await get(`/activities/${group}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: group,
      type: 'ActivityGroup',
      activity_status: 'delivered',
      parent_id: null,
      completion_time: null,
      computer_id: null,
      delivery_time: null,
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

  it('shows an operation with what became of it', async () => {
    const group = await act(['web']);
    await world.settle();
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

  it('shows a held operation as waiting, and its group too while nothing else is to do', async () => {
    await world.db.query('update account set max_message_backlog = 0 where id = $1', [world.accountId]);
    const group = await act(['web', 'db']);
    await world.settle();
    await world.db.query('update account set max_message_backlog = null where id = $1', [world.accountId]);
    const { body } = await get(`/activities/${group}`);
    expect(body.activity_status).toBe('waiting');
    expect(body.children.map((c: { activity_status: string }) => c.activity_status)).toEqual(['waiting', 'waiting']);
    await world.db.query(`update agent_message set state = 'queued' where computer_id = $1`, [world.ids['web']]);
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('undelivered');
    await cancel([group]);
    await world.settle();
  });

  it.each(['999999999', '0', '-1', '1.5', 'x', '9007199254740993', '99999999999999999999', '%D9%A1'])(
    'answers 404 for id %s (ID-bad)',
    async (id) => {
      const { status, body } = await get(`/activities/${id}`);
      expect(status).toBe(404);
      expect(body.error).toMatch(/^(UnknownActivity|NotFound)$/);
    },
  );

  it('answers the same for a foreign activity as for none', async () => {
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
    await world.settle();
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
    await world.settle();
    await report(group, true, null);
    world.clock.advance(60_000);
    await report(group, null, false);
    const [row] = (await get('/activities/parents?limit=1')).body.results;
    expect(row).toMatchObject({ id: group, activity_status: 'failed' });
    expect(row.completion_time).toBe(world.clock.now().toISOString().replace('.000', ''));
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

  it.each(['limit=0', 'limit=-1', 'limit=1.5', 'limit=NaN', 'limit=1e9', 'offset=-1', 'limit=1&limit=2'])(
    'refuses %s (PAGE-bad)',
    async (query) => {
      expect((await get(`/activities?${query}`)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    },
  );
});

describe('scopes', () => {
  it('never shows an account the rows of another', async () => {
    await act(['web']);
    for (const path of ['/activities', '/activities/parents']) {
      expect((await get(path, world.tokens.foreign)).body).toMatchObject({ count: 0, results: [] });
    }
  });

  it('shows activities of visible computers, and parents with at least one', async () => {
    const hidden = await act(['desk']);
    const both = await act(['web', 'desk']);
    const token = world.tokens.servers;
    expect((await get(`/activities/${hidden}`, token)).status).toBe(404);
    const { body } = await get(`/activities/${both}`, token);
    expect(body.children).toHaveLength(1);
    const [web, desk] = await childrenOf(world.db, both);
    const listed = idsOf((await get('/activities', token)).body);
    expect(listed).toContain(both);
    expect(listed).toContain(web!.id);
    expect(listed).not.toContain(desk!.id);
    expect(listed).not.toContain(hidden);
    expect(idsOf((await get('/activities/parents', token)).body)).not.toContain(hidden);
  });

  it('counts as many as it lists', async () => {
    for (const path of ['/activities', '/activities/parents']) {
      const { body } = await get(path, world.tokens.servers);
      expect(body.count).toBe(body.results.length);
    }
  });

  it('offers actions only to whom may take them on every computer concerned', async () => {
    const both = await act(['web', 'desk']);
    const own = await act(['web', 'db']);
    const actions = async (id: number, who: 'auditor' | 'mixed' | 'servers' | 'admin') =>
      (await get(`/activities/${id}`, world.tokens[who])).body.actions.cancelable;
    expect(await actions(both, 'admin')).toBe(true);
    expect(await actions(both, 'auditor')).toBe(false);
    expect(await actions(both, 'mixed')).toBe(false);
    expect(await actions(both, 'servers')).toBe(false);
    expect(await actions(own, 'mixed')).toBe(true);
    expect(await actions(own, 'servers')).toBe(true);
  });
});

describe('POST /activities/cancel', () => {
  it('takes back at once what no computer has, and cancels the rest', async () => {
    const group = await act(['web', 'db']);
    await world.settle();
    const [first] = await childrenOf(world.db, group);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [first!.id]);
    const { status, body } = await cancel([group, group]);
    expect({ status, body }).toEqual({ status: 200, body: [group] });
    expect((await childrenOf(world.db, group)).map(({ message }) => message)).toEqual(['sent', 'withdrawn']);
    const orders = await world.db.query(`select key from outbox where kind = 'cancel'`);
    expect(orders).toContainEqual({ key: `activity/${group}` });
    await world.settle();
    expect((await get(`/activities/${group}`)).body).toMatchObject({
      activity_status: 'canceled',
      completion_time: world.clock.now().toISOString().replace('.000', ''),
      actions: { ...NO_ACTIONS, reappliable: true },
    });
  });

  it('cancels one operation of a group and its own workflow, and leaves the others', async () => {
    const group = await act(['web', 'db']);
    await world.settle();
    const [first, second] = await childrenOf(world.db, group);
    await cancel([first!.id]);
    const keys = (await world.db.query<{ key: string }>(`select key from outbox where kind = 'cancel'`)).map(
      (o) => o.key,
    );
    expect(keys).toContain(`activity/${first!.id}`);
    expect(keys).not.toContain(`activity/${group}`);
    await world.settle();
    const statuses = (await childrenOf(world.db, group)).map(({ status }) => status);
    expect(statuses).toEqual(['canceled', 'undelivered']);
    expect((await cancel([second!.id])).status).toBe(200);
    await world.settle();
  });

  it('leaves the workflow of a lane of many alone when one operation of it is canceled', async () => {
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
    await world.settle();
    const canceled = (await childrenOf(world.db, group)).filter(({ status }) => status === 'canceled');
    expect(canceled.map(({ id }) => id)).toEqual([first!.id]);
  });

  it('cancels an operation without a group through its own workflow', async () => {
    const id = await world.db.transaction((tx) =>
      createOperation(tx, {
        accountId: world.accountId,
        creatorId: null,
        now: world.clock.now(),
        deliverAfter: null,
        windowMinutes: 0,
        computer: world.ids['web']!,
        operation: aChain(1)[0]!,
      }),
    );
    expect((await cancel([id])).body).toEqual([id]);
    const orders = await world.db.query(`select key from outbox where kind = 'cancel' and key = $1`, [
      `activity/${id}`,
    ]);
    expect(orders).toHaveLength(1);
    await world.settle();
    expect((await get(`/activities/${id}`)).body).toMatchObject({ activity_status: 'canceled', creator: null });
  });

  it('lets a late report replace canceled', async () => {
    const group = await act(['web']);
    await world.settle();
    const [child] = await childrenOf(world.db, group);
    await world.db.query(`update agent_message set state = 'sent' where activity_id = $1`, [child!.id]);
    expect((await cancel([group])).status).toBe(200);
    await world.settle();
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('canceled');
    await report(group, true);
    expect((await get(`/activities/${group}`)).body.activity_status).toBe('succeeded');
  });

  it('does nothing twice when two ask at once (STATE-bad)', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.settle();
    const answers = await Promise.all([cancel([group]), cancel([group]), cancel([group])]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await world.settle();
    const [parent] = await world.db.query('select open_count, canceled_count from activity where id = $1', [group]);
    expect(parent).toEqual({ open_count: 0, canceled_count: 3 });
  });

  describe('refuses, and changes nothing', () => {
    async function unchanged(call: () => Promise<{ status: number; body: { error: string; details?: unknown } }>) {
      const state = () =>
        world.db.query(`select (select count(*) from agent_inbox) as news, (select count(*) from outbox) as orders,
          (select count(*) from agent_message where state = 'withdrawn') as withdrawn`);
      const before = await state();
      const answer = await call();
      expect(await state()).toEqual(before);
      return answer;
    }

    it('STATE-bad: one that has ended among open ones', async () => {
      const open = await act(['web']);
      const ended = await act(['db']);
      await world.settle();
      await report(ended, true);
      const { status, body } = await unchanged(() => cancel([open, ended]));
      expect(status).toBe(400);
      expect(body).toMatchObject({
        error: 'ActivityNotEligible',
        details: [{ id: ended, message: 'has already ended' }],
      });
    });

    it('BATCH-mixed: one that is unknown among open ones', async () => {
      const open = await act(['web']);
      const { status, body } = await unchanged(() => cancel([open, 999999999]));
      expect(status).toBe(404);
      expect(body).toMatchObject({ error: 'UnknownActivity', details: [{ id: 999999999 }] });
    });

    it('BATCH-mixed: a foreign one', async () => {
      const open = await act(['web']);
      expect((await unchanged(() => cancel([open], world.tokens.foreign))).status).toBe(404);
    });

    it.each([
      ['auditor', 403],
      ['mixed', 403],
      ['servers', 403],
    ] as const)('%s on a computer they may not manage', async (who, status) => {
      const open = await act(['web', 'desk']);
      const answer = await unchanged(() => cancel([open], world.tokens[who]));
      expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error: 'Forbidden' });
    });

    it.each([[[]], [[0]], [['1']], [1], [Array(1001).fill(1)], [null]])('%j', async (ids) => {
      const { body } = await unchanged(() => cancel(ids));
      expect(body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    });
  });
});
