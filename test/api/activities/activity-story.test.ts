import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityGroups, addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;
const { act, get, cancel, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const at = (milliseconds: number) => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** Has computers end their operations of a group, in order; null for none. */
async function endWith(group: number, ...results: Array<{ ok: boolean; body?: string; code?: number } | null>) {
  const children = await childrenOf(world.db, group);
  for (const [index, result] of results.entries()) {
    const { lane_id: batch, id } = children[index]!;
    if (result) await addEvent(world.db, { ...result, batch, activity: id, kind: 'result', at: world.clock.now() });
  }
  await world.processEvents();
}

describe('GET /activities/{id}/computers', () => {
  it('shows each computer with its times, its result and what it waits for', async () => {
    const created = world.clock.now().getTime();
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    const [, db] = await childrenOf(world.db, group);
    await addEvent(world.db, { batch: db!.lane_id, activity: db!.id, kind: 'delivered', at: world.clock.now() });
    world.clock.advance(3000);
    await report(group, true);
    const { status, body } = await get(`/activities/${group}/computers`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: 3, next: null, previous: null });
    const [web, second, desk] = body.results;
    expect(web).toMatchObject({
      type: 'InstallSnaps',
      summary: 'Install snap hello',
      computer_id: world.ids['web'],
      computer_title: 'web',
      activity_status: 'succeeded',
      waits_for: null,
      creation_time: at(created),
      due_time: at(created),
      completion_time: at(created + 3000),
      result_text: 'done',
      after: null,
      step_after: null,
    });
    expect(second).toMatchObject({ activity_status: 'delivered', waits_for: 'answer', delivery_time: at(created) });
    expect(desk).toMatchObject({ activity_status: 'undelivered', waits_for: 'computer', delivery_time: null });
  });

  it('names what else an operation can wait for', async () => {
    const waiting = async (group: number) => {
      const { body } = await get(`/activities/${group}/computers`);
      return body.results.map((line: Record<string, unknown>) => [line['activity_status'], line['waits_for']]);
    };
    const prior = await act(['web']);
    const later = await act(['web'], { deliver_after: at(world.clock.now().getTime() + 60_000) });
    const chained = await act(['web'], { after: prior });
    expect(await waiting(later)).toEqual([['scheduled', 'time']]);
    expect(await waiting(chained)).toEqual([['waiting', 'activity']]);
    expect((await get(`/activities/${chained}/computers`)).body.results[0].after).toBe(prior);
    await world.db.query('update account set max_message_backlog = 0 where id = $1', [world.accountId]);
    expect(await waiting(prior)).toEqual([['waiting', 'backlog']]);
    expect((await get(`/activities/${prior}/computers?status=waiting`)).body.count).toBe(1);
    expect((await get(`/activities/${prior}/computers?status=undelivered`)).body.count).toBe(0);
    await world.db.query('update account set max_message_backlog = null where id = $1', [world.accountId]);
    await world.db.query(`update activity set status = 'unapproved' where parent_id = $1`, [later]);
    expect(await waiting(later)).toEqual([['unapproved', 'approval']]);
  });

  it('names the operation that comes first on the same computer', async () => {
    const groups = [await act(['web']), await act(['web'])];
    const [first, second] = await Promise.all(groups.map(async (group) => (await childrenOf(world.db, group))[0]!));
    await world.db.query(`update activity set blocked_by = $1, status = 'waiting' where id = $2`, [
      first!.id,
      second!.id,
    ]);
    expect((await get(`/activities/${groups[1]}/computers`)).body.results).toMatchObject([
      { activity_status: 'waiting', waits_for: 'step', step_after: first!.id },
    ]);
  });

  it('shows since when an offline computer has been silent', async () => {
    const group = await act(['web', 'db']);
    const heard = world.clock.now();
    await world.db.query(
      `insert into computer_contact (computer_id, known_since, last_ping_time) values ($1, $2, $2), ($3, $2, $4)
       on conflict (computer_id) do update set known_since = excluded.known_since, last_ping_time = excluded.last_ping_time`,
      [world.ids['web'], heard, world.ids['db'], new Date(heard.getTime() + 600_000)],
    );
    world.clock.advance(600_000);
    const { results } = (await get(`/activities/${group}/computers`)).body;
    expect(results).toMatchObject([{ offline_since: at(heard.getTime()) }, { offline_since: null }]);
  });

  it('filters by status, title, text of the result and failure', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    await endWith(group, { ok: false, body: 'disk full' }, { ok: false, body: 'the Disk full' }, { ok: true });
    const titles = async (filter: string) => {
      const { status, body } = await get(`/activities/${group}/computers?${filter}`);
      expect(status).toBe(200);
      expect(body.count).toBe(body.results.length);
      return body.results.map((line: { computer_title: string }) => line.computer_title);
    };
    expect(await titles('status=failed')).toEqual(['web', 'db']);
    expect(await titles('result=DISK')).toEqual(['web', 'db']);
    expect(await titles('failure=disk%20full')).toEqual(['web']);
    expect(await titles('computer=DE')).toEqual(['desk']);
    expect(await titles('computer=%25')).toEqual([]);
    expect(await titles('status=succeeded&failure=disk%20full')).toEqual([]);
  });

  it('has pages', async () => {
    const group = await act(['web', 'db', 'desk']);
    const { body } = await get(`/activities/${group}/computers?limit=1&offset=1`);
    expect(body).toMatchObject({ count: 3, results: [{ computer_title: 'db' }] });
    expect(body.next).toContain(`/activities/${group}/computers?limit=1&offset=2`);
    expect((await get(`/activities/${group}/computers?limit=1&status=failed`)).body.count).toBe(0);
  });

  it('has the line of an operation, and none for work of the server', async () => {
    const group = await act(['web', 'db']);
    const [web] = await childrenOf(world.db, group);
    const { body } = await get(`/activities/${web!.id}/computers`);
    expect(body).toMatchObject({ count: 1, results: [{ id: web!.id, computer_title: 'web' }] });
    const [report] = await world.db.query<{ id: number }>(
      `insert into activity (account_id, type, summary, status, creation_time)
       values ($1, 'GenerateUsgReportActivity', 'Report', 'delivered', $2) returning id`,
      [world.accountId, world.clock.now()],
    );
    for (const part of ['computers', 'failures']) {
      expect((await get(`/activities/${report!.id}/${part}`)).body).toMatchObject({ count: 0, results: [] });
    }
    expect((await get(`/activities/${report!.id}/timeline`)).body).toMatchObject([{ delivered: 0, succeeded: 0 }]);
  });

  it('shows only the beginning of a long result', async () => {
    const group = await act(['web']);
    await world.processEvents();
    await endWith(group, { ok: false, body: 'x'.repeat(5000) });
    const [line] = (await get(`/activities/${group}/computers`)).body.results;
    expect(line.result_text).toBe('x'.repeat(1000));
  });
});

describe('GET /activities/{id}/failures', () => {
  it('counts failures by their text, the most frequent first', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    await endWith(group, { ok: false, body: 'b' }, { ok: false, body: 'a' }, { ok: false, body: 'b' });
    const failures = [
      { text: 'b', count: 2 },
      { text: 'a', count: 1 },
    ];
    expect((await get(`/activities/${group}/failures`)).body).toMatchObject({ count: 2, results: failures });
    const second = (await get(`/activities/${group}/failures?limit=1&offset=1`)).body;
    expect(second).toMatchObject({ count: 2, results: failures.slice(1), next: null });
  });

  it('gives texts that find what they count, also of scripts and without a text', async () => {
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    const output = `line\n${'y'.repeat(400)}`;
    await endWith(group, { ok: false, body: output, code: 103 }, { ok: false, body: '', code: 103 }, { ok: false });
    await world.db.query(
      `update activity set type = 'ExecuteScriptRequest' where parent_id = $1 and result_code is not null`,
      [group],
    );
    const { results } = (await get(`/activities/${group}/failures`)).body;
    expect(results).toHaveLength(3);
    for (const { text, count } of results) {
      const found = await get(`/activities/${group}/computers?failure=${encodeURIComponent(text)}`);
      expect(found.body.count).toBe(count);
      expect(found.body.results[0].result_text ?? '').toMatch(new RegExp(`^${text.slice(0, 100)}`));
    }
    expect(results.map(({ text }: { text: string }) => text)).toContain('The script ended with a non-zero exit code.');
  });
});

describe('GET /activities/{id}/timeline', () => {
  it('shows how many had got how far', async () => {
    const start = world.clock.now().getTime();
    const group = await act(['web', 'db', 'desk']);
    await world.processEvents();
    for (const { lane_id: batch, id: activity } of await childrenOf(world.db, group)) {
      world.clock.advance(1000);
      await addEvent(world.db, { batch, activity, kind: 'delivered', at: world.clock.now() });
    }
    await world.processEvents();
    world.clock.advance(1000);
    await endWith(group, { ok: true }, { ok: false });
    const none = { delivered: 0, succeeded: 0, failed: 0, canceled: 0 };
    const points = [0, 1, 2, 3].map((delivered) => ({ ...none, time: at(start + delivered * 1000), delivered }));
    const now = { ...none, time: at(start + 4000), delivered: 1, succeeded: 1, failed: 1 };
    expect((await get(`/activities/${group}/timeline`)).body).toEqual([...points, now]);
    expect((await get(`/activities/${group}/timeline?points=2`)).body).toEqual([points[0], points[2], now]);
    expect((await get(`/activities/${group}/timeline?points=3`)).body).toEqual([points[0], points[2], now]);
    world.clock.advance(1000);
    await cancel([group]);
    await world.processEvents();
    world.clock.advance(60_000);
    const ended = (await get(`/activities/${group}/timeline`)).body.at(-1);
    expect(ended).toEqual({ time: at(start + 5000), delivered: 0, succeeded: 1, failed: 1, canceled: 1 });
  });
});

describe('who sees it', () => {
  const parts = ['computers', 'failures', 'timeline'];

  it('are those who see the activity, and only the computers that they see', async () => {
    const both = await act(['web', 'desk']);
    const hidden = await act(['desk']);
    await world.processEvents();
    await endWith(both, { ok: false, body: 'seen' }, { ok: false, body: 'unseen' });
    const token = world.tokens.servers;
    const computers = (await get(`/activities/${both}/computers`, token)).body;
    expect(computers).toMatchObject({ count: 1, results: [{ computer_title: 'web' }] });
    expect((await get(`/activities/${both}/failures`, token)).body.results).toEqual([{ text: 'seen', count: 1 }]);
    expect((await get(`/activities/${both}/timeline`, token)).body.at(-1)).toMatchObject({ failed: 1 });
    for (const part of parts) {
      expect((await get(`/activities/${hidden}/${part}`, token)).status).toBe(404);
      expect((await get(`/activities/${both}/${part}`, world.tokens.foreign)).status).toBe(404);
      expect((await get(`/activities/2147483647/${part}`)).body).toMatchObject({ error: 'UnknownActivity' });
    }
  });

  it.each([
    'computers?status=broken',
    'computers?result=%00',
    'computers?limit=-1',
    'computers?offset=x',
    'computers?unknown=1',
    `computers?failure=${'x'.repeat(256)}`,
    'failures?limit=x',
    'timeline?points=0',
    'timeline?points=501',
  ])('rejects %s', async (path) => {
    expect((await get(`/activities/1/${path}`)).body).toMatchObject({ code: 400 });
  });
});
