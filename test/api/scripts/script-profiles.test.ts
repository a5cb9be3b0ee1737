import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { event, once, recurring, script, scriptProfileRequests } from '../../support/scripts/scripts.ts';

let world: FleetWorld;
const { scriptIds, call, addScripts, nextTurn, create, stored, turn } = scriptProfileRequests(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
  await addScripts();
});
afterAll(() => world?.close());
beforeEach(nextTurn);

const rejected = { error: 'InvalidParameter', code: 400 };

describe('POST /script-profiles', () => {
  it('responds with the profile', async () => {
    const { status, body } = await create({ title: ' Nightly cleaning ', tags: ['web', 'web'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      title: 'Nightly cleaning',
      script_id: scriptIds.global,
      access_group: 'global',
      created_by: { id: world.adminId, name: 'Admin One' },
      created_at: '2026-11-21T12:00:00.000000',
      last_edited_at: '2026-11-21T12:00:00.000000',
      trigger: { ...recurring('30 2 * * *'), last_run: null, next_run: '2026-11-22T02:30:00Z' },
      all_computers: true,
      tags: ['web'],
      time_limit: 60,
      username: 'root',
      timezone: 'UTC',
      computers: { num_associated_computers: 3 },
      activities: { last_activity: null },
      archived: false,
    });
    expect((await call('GET', `/script-profiles/${body.id}`)).body).toEqual(body);
    expect((await call('GET', `/scripts/${scriptIds.global}`)).body.script_profiles).toContainEqual({
      id: body.id,
      title: 'Nightly cleaning',
    });
  });

  it.each([
    [event, event],
    [
      once('2026-12-01T10:00'),
      { ...once('2026-12-01T10:00:00Z'), is_finished: false, last_run: null, next_run: '2026-12-01T10:00:00Z' },
    ],
    [
      recurring('0 0 13 * fri', '2027-01-01T01:00:00+01:00'),
      { ...recurring('0 0 13 * fri', '2027-01-01T00:00:00Z'), last_run: null, next_run: '2027-01-01T00:00:00Z' },
    ],
  ])('takes the trigger %j', async (trigger, shown) => {
    const { status, body } = await create({ trigger });
    expect([status, body.trigger]).toEqual([201, shown]);
  });

  it.each([
    '* * * * * *',
    '0 0 0 1 1 *',
    '@daily',
    '@every 2h',
    '0 0 31 2 *',
    '*/0 * * * *',
    '0 */0 * * *',
    'TZ=UTC 0 0 * * *',
    '0 0 * *',
    '0 0 L * *',
    '',
  ])('CRON-bad: rejects the interval %j', async (interval) => {
    const before = await stored();
    const { body } = await create({ trigger: recurring(interval) });
    expect(body).toMatchObject({ ...rejected, details: [{ path: 'body.trigger.interval' }] });
    expect(await stored()).toEqual(before);
  });

  it.each(['* * * * *', '*/30 * * * *', '0,59 * * * *'])(
    'CRON-bad: rejects %j, whose runs come too close',
    async (interval) => {
      const before = await stored();
      const { body } = await create({ trigger: recurring(interval) });
      expect(body).toMatchObject({ error: 'IntervalTooShort', code: 400 });
      expect(await stored()).toEqual(before);
    },
  );

  it.each(['0 * * * *', '0 0 * jan-mar mon,wed', '15 3 1 Feb SUN', '58 23,0 * * *'])(
    'CRON-bad: takes %j',
    async (interval) => {
      expect((await create({ trigger: recurring(interval) })).body.trigger.interval).toBe(interval);
    },
  );

  it.each([
    'tomorrow',
    '2026-11-21T23:59:60Z',
    '0001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-11-31T00:00:00Z',
    '2026-12-01T00:00:00+15:00',
    '1669032000',
  ])('TIME-bad: rejects %s as timestamp and as start_after', async (time) => {
    const before = await stored();
    for (const [trigger, name] of [
      [once(time), 'timestamp'],
      [recurring('0 0 * * *', time), 'start_after'],
    ] as const) {
      const { body } = await create({ trigger });
      expect(body).toMatchObject({ ...rejected, details: [{ path: `body.trigger.${name}` }] });
    }
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['2026-12-01T14:00:00+14:00', '2026-12-01T00:00:00Z'],
    ['2026-12-01T10:00:00', '2026-12-01T10:00:00Z'],
    ['2026-12-01', '2026-12-01T00:00:00Z'],
  ])('TIME-bad: takes %s for %s', async (time, meant) => {
    expect((await create({ trigger: once(time) })).body.trigger.timestamp).toBe(meant);
  });

  it.each([
    [{ trigger: {} }, 'body.trigger.trigger_type'],
    [{ trigger: { trigger_type: 'weekly' } }, 'body.trigger.trigger_type'],
    [{ trigger: { timestamp: '2026-12-01' } }, 'body.trigger.trigger_type'],
    [{ trigger: { trigger_type: 'event' } }, 'body.trigger.event_type'],
    [{ trigger: { trigger_type: 'event', event_type: 'reboot' } }, 'body.trigger.event_type'],
    [{ trigger: { trigger_type: 'one_time' } }, 'body.trigger.timestamp'],
    [{ trigger: { trigger_type: 'recurring', interval: '0 0 * * *' } }, 'body.trigger.start_after'],
    [{ trigger: { trigger_type: 'recurring', start_after: '2026-12-01' } }, 'body.trigger.interval'],
    [{ trigger: { ...once('2026-12-01'), interval: '0 0 * * *' } }, 'body.trigger.interval'],
    [{ trigger: { ...event, timestamp: '2026-12-01' } }, 'body.trigger.timestamp'],
    [{ trigger: { ...recurring('0 0 * * *'), event_type: 'post_enrollment' } }, 'body.trigger.event_type'],
    [{ trigger: 'daily' }, 'body.trigger'],
    [{ trigger: undefined }, 'body.trigger'],
    [{ title: ' ' }, 'body.title'],
    [{ title: undefined }, 'body.title'],
    [{ tags: ['a b'] }, 'body.tags.0'],
    [{ tags: undefined }, 'body.tags'],
    [{ all_computers: undefined }, 'body.all_computers'],
    [{ all_computers: 'yes' }, 'body.all_computers'],
    [{ time_limit: 0 }, 'body.time_limit'],
    [{ time_limit: 604_801 }, 'body.time_limit'],
    [{ time_limit: undefined }, 'body.time_limit'],
    [{ username: 'a b' }, 'body.username'],
    [{ username: undefined }, 'body.username'],
    [{ script_id: 'one' }, 'body.script_id'],
  ])('rejects %j and stores nothing', async (over, path) => {
    const before = await stored();
    const { body } = await create(over);
    expect(body).toMatchObject({ ...rejected, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it('needs an active script, the rights in its group and a title of its own', async () => {
    expect((await create({ script_id: 2_000_000_000 })).body).toMatchObject({ error: 'UnknownScript', code: 404 });
    const put = (await call('POST', '/scripts', script({ title: `Away ${turn()}` }))).body.id;
    await call('POST', `/scripts/${put}:archive`);
    expect((await create({ script_id: put })).body).toMatchObject({ error: 'ScriptArchived', code: 400 });
    expect((await create({}, world.tokens.auditor)).status).toBe(403);
    expect((await create({}, world.tokens.servers)).body).toMatchObject({ error: 'UnknownScript', code: 404 });
    expect((await create({}, world.tokens.mixed)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await create({ script_id: scriptIds.servers }, world.tokens.servers)).status).toBe(201);
    expect((await create()).body).toMatchObject({ error: 'DuplicateScriptProfile', code: 409 });
  });
});

describe('PATCH /script-profiles/<id>', () => {
  it('changes what is given and nothing else', async () => {
    const made = (await create()).body;
    world.clock.advance(1500);
    const change = { title: `Other ${turn()}`, all_computers: false, tags: ['x'], time_limit: 9, username: 'backup' };
    const changed = (await call('PATCH', `/script-profiles/${made.id}`, change)).body;
    expect(changed).toEqual({
      ...made,
      ...change,
      last_edited_at: '2026-11-21T12:00:01.500000',
      computers: { num_associated_computers: 0 },
    });
    expect((await call('PATCH', `/script-profiles/${made.id}`, { title: null })).body).toEqual(changed);
  });

  it.each([
    [{ tags: [5] }, 'body.tags.0', 'must be a string'],
    [{ tags: 5 }, 'body.tags', 'must be a list or null'],
    [{ trigger: { interval: 5 } }, 'body.trigger.interval', 'must be a string or null'],
  ])('rejects %j in one true line, though null would do as well', async (change, path, message) => {
    const { body } = await call('PATCH', `/script-profiles/${(await create()).body.id}`, change);
    expect(body).toEqual({ ...rejected, message: `${path} ${message}`, details: [{ path, message }] });
  });

  const TRIGGERS = [event, once('2026-12-01T10:00:00Z'), recurring('0 5 * * *')];
  it.each(TRIGGERS.flatMap((from) => TRIGGERS.map((to) => [from, to] as const)))(
    'turns the trigger %j into %j',
    async (from, to) => {
      const made = (await create({ trigger: from })).body;
      const { status, body } = await call('PATCH', `/script-profiles/${made.id}`, { trigger: to });
      expect(status).toBe(200);
      expect(body.trigger).toMatchObject(to);
      expect((await call('GET', `/script-profiles/${made.id}`)).body).toEqual(body);
    },
  );

  it('takes one field of a recurring trigger, and all of another type', async () => {
    const { id } = (await create()).body;
    const patch = async (trigger: object) => (await call('PATCH', `/script-profiles/${id}`, { trigger })).body;
    expect((await patch({ trigger_type: 'recurring', interval: '0 6 * * *' })).trigger).toMatchObject(
      recurring('0 6 * * *'),
    );
    expect((await patch({ trigger_type: 'recurring', start_after: '2027-01-01' })).trigger).toEqual({
      ...recurring('0 6 * * *', '2027-01-01T00:00:00Z'),
      last_run: null,
      next_run: '2027-01-01T06:00:00Z',
    });
    expect(await patch({ trigger_type: 'recurring' })).toMatchObject(rejected);
    expect(await patch({ trigger_type: 'recurring', interval: '* * * * *' })).toMatchObject({
      error: 'IntervalTooShort',
    });
    expect(await patch({ trigger_type: 'one_time' })).toMatchObject(rejected);
    await patch(event);
    const half = await patch({ trigger_type: 'recurring', interval: '0 6 * * *' });
    expect(half).toMatchObject({ ...rejected, details: [{ path: 'body.trigger.start_after' }] });
  });

  it('removes the runs of a one-time trigger that gets another time, and those of another type', async () => {
    const startedAt = `${world.clock.now().toISOString().slice(0, 19)}Z`;
    const { id } = (await create({ trigger: once('2026-11-21T12:00:00Z') })).body;
    const read = async () => (await call('GET', `/script-profiles/${id}`)).body.trigger;
    const done = { is_finished: true, last_run: startedAt, next_run: null };
    expect(await read()).toMatchObject(done);
    const patch = (trigger: object) => call('PATCH', `/script-profiles/${id}`, { trigger });
    await patch(once('2026-11-21T12:00:00Z'));
    expect(await read()).toMatchObject(done);
    await patch(once('2026-12-21T12:00:00Z'));
    expect(await read()).toMatchObject({ is_finished: false, last_run: null, next_run: '2026-12-21T12:00:00Z' });
  });

  it('takes nothing for an archived profile, and no title of another', async () => {
    const { id } = (await create()).body;
    const other = (await create({ title: `Second ${turn()}` })).body;
    const taken = await call('PATCH', `/script-profiles/${id}`, { title: other.title });
    expect(taken.body).toMatchObject({ error: 'DuplicateScriptProfile', code: 409 });
    for (let i = 0; i < 2; i++) {
      const response = await call('POST', `/script-profiles/${id}:archive`);
      expect([response.status, response.text]).toEqual([204, '']);
    }
    const { body } = await call('GET', `/script-profiles/${id}`);
    expect(body).toMatchObject({
      archived: true,
      trigger: { next_run: null },
      computers: { num_associated_computers: 0 },
    });
    const patched = await call('PATCH', `/script-profiles/${id}`, { title: 'x' });
    expect(patched.body).toMatchObject({ error: 'ProfileArchived', code: 400 });
    expect((await create()).status).toBe(201);
  });
});
