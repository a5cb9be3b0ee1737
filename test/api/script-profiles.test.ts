import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createAdmin, createTestApp } from '../support/app.ts';
import { insertComputer } from '../support/computers.ts';
import { createTestDatabase } from '../support/database.ts';
import { createFleetWorld, type FleetWorld } from '../support/fleet-world.ts';
import { script, scriptProfile } from '../support/scripts.ts';

let world: FleetWorld;
let global: number;
let servers: number;
let turn = 0;

beforeAll(async () => {
  world = await createFleetWorld();
  global = (await call('POST', '/scripts', script())).body.id;
  servers = (await call('POST', '/scripts', script({ title: 'On servers', access_group: 'servers' }))).body.id;
});
afterAll(() => world?.close());
beforeEach(() => {
  turn++;
});

const call = (method: string, path: string, body?: unknown, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = (over: object = {}, token?: string) =>
  call('POST', '/script-profiles', scriptProfile(global, { title: `Profile ${turn}`, ...over }), token);
const once = (timestamp: string) => ({ trigger_type: 'one_time', timestamp });
const recurring = (interval: string, start_after = '2026-11-20T00:00:00Z') => ({
  trigger_type: 'recurring',
  start_after,
  interval,
});
const event = { trigger_type: 'event', event_type: 'post_enrollment' };
const stored = async () =>
  (
    await world.db.query(
      `select (select md5(string_agg(p::text, '')) from script_profile p) as profiles,
         (select count(*) from event where entity_type = 'ScriptProfile') as events`,
    )
  )[0];
const refused = { error: 'InvalidParameter', code: 400 };

describe('POST /script-profiles', () => {
  it('answers with the profile', async () => {
    const { status, body } = await create({ title: ' Nightly cleaning ', tags: ['web', 'web'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      title: 'Nightly cleaning',
      script_id: global,
      access_group: 'global',
      created_by: { id: world.adminId, name: 'Admin One' },
      created_at: '2026-11-21T12:00:00.000000',
      last_edited_at: '2026-11-21T12:00:00.000000',
      trigger: { ...recurring('30 2 * * *'), last_run: null, next_run: '2026-11-22T02:30:00Z' },
      all_computers: true,
      tags: ['web'],
      time_limit: 60,
      username: 'root',
      computers: { num_associated_computers: 3 },
      activities: { last_activity: null },
      archived: false,
    });
    expect((await call('GET', `/script-profiles/${body.id}`)).body).toEqual(body);
    expect((await call('GET', `/scripts/${global}`)).body.script_profiles).toContainEqual({
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
      { ...recurring('0 0 13 * fri', '2027-01-01T00:00:00Z'), last_run: null, next_run: '2027-01-08T00:00:00Z' },
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
  ])('CRON-bad: refuses the interval %j', async (interval) => {
    const before = await stored();
    const { body } = await create({ trigger: recurring(interval) });
    expect(body).toMatchObject({ ...refused, details: [{ path: 'body.trigger.interval' }] });
    expect(await stored()).toEqual(before);
  });

  it.each(['* * * * *', '*/30 * * * *', '0,59 * * * *'])(
    'CRON-bad: refuses %j, whose runs come too close',
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
  ])('TIME-bad: refuses %s as timestamp and as start_after', async (time) => {
    const before = await stored();
    for (const [trigger, name] of [
      [once(time), 'timestamp'],
      [recurring('0 0 * * *', time), 'start_after'],
    ] as const) {
      const { body } = await create({ trigger });
      expect(body).toMatchObject({ ...refused, details: [{ path: `body.trigger.${name}` }] });
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
    [{ trigger: {} }, 'body.trigger'],
    [{ trigger: { trigger_type: 'weekly' } }, 'body.trigger.trigger_type'],
    [{ trigger: { timestamp: '2026-12-01' } }, 'body.trigger.trigger_type'],
    [{ trigger: { trigger_type: 'event' } }, 'body.trigger.event_type'],
    [{ trigger: { trigger_type: 'event', event_type: 'reboot' } }, 'body.trigger.event_type'],
    [{ trigger: { trigger_type: 'one_time' } }, 'body.trigger.timestamp'],
    [{ trigger: { trigger_type: 'recurring', interval: '0 0 * * *' } }, 'body.trigger.start_after'],
    [{ trigger: { trigger_type: 'recurring', start_after: '2026-12-01' } }, 'body.trigger.interval'],
    [{ trigger: 'daily' }, 'body.trigger'],
    [{ trigger: undefined }, 'body.trigger'],
    [{ title: ' ' }, 'body.title'],
    [{ title: undefined }, 'body.title'],
    [{ tags: ['a b'] }, 'body.tags'],
    [{ tags: undefined }, 'body.tags'],
    [{ all_computers: undefined }, 'body.all_computers'],
    [{ all_computers: 'yes' }, 'body.all_computers'],
    [{ time_limit: 0 }, 'body.time_limit'],
    [{ time_limit: 604_801 }, 'body.time_limit'],
    [{ time_limit: undefined }, 'body.time_limit'],
    [{ username: 'a b' }, 'body.username'],
    [{ username: undefined }, 'body.username'],
    [{ script_id: 'one' }, 'body.script_id'],
  ])('refuses %j and stores nothing', async (over, path) => {
    const before = await stored();
    const { body } = await create(over);
    expect(body).toMatchObject({ ...refused, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it('needs an active script, the rights in its group and a title of its own', async () => {
    expect((await create({ script_id: 2_000_000_000 })).body).toMatchObject({ error: 'UnknownScript', code: 404 });
    const put = (await call('POST', '/scripts', script({ title: `Away ${turn}` }))).body.id;
    await call('POST', `/scripts/${put}:archive`);
    expect((await create({ script_id: put })).body).toMatchObject({ error: 'ScriptArchived', code: 400 });
    expect((await create({}, world.tokens.auditor)).status).toBe(403);
    expect((await create({}, world.tokens.servers)).body).toMatchObject({ error: 'UnknownScript', code: 404 });
    expect((await create({}, world.tokens.mixed)).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await create({ script_id: servers }, world.tokens.servers)).status).toBe(201);
    expect((await create()).body).toMatchObject({ error: 'DuplicateScriptProfile', code: 409 });
  });
});

describe('PATCH /script-profiles/<id>', () => {
  it('changes what is given and nothing else', async () => {
    const made = (await create()).body;
    world.clock.advance(1500);
    const change = { title: `Other ${turn}`, all_computers: false, tags: ['x'], time_limit: 9, username: 'backup' };
    const extra = { script_id: servers, archived: true, created_by: { id: 7 }, account_id: 7 };
    const changed = (await call('PATCH', `/script-profiles/${made.id}`, { ...change, ...extra })).body;
    expect(changed).toEqual({
      ...made,
      ...change,
      last_edited_at: '2026-11-21T12:00:01.500000',
      computers: { num_associated_computers: 0 },
    });
    expect((await call('PATCH', `/script-profiles/${made.id}`, { title: null })).body).toEqual(changed);
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
    expect(await patch({ trigger_type: 'recurring' })).toMatchObject(refused);
    expect(await patch({ trigger_type: 'recurring', interval: '* * * * *' })).toMatchObject({
      error: 'IntervalTooShort',
    });
    expect(await patch({ trigger_type: 'one_time' })).toMatchObject(refused);
    await patch(event);
    const half = await patch({ trigger_type: 'recurring', interval: '0 6 * * *' });
    expect(half).toMatchObject({ ...refused, details: [{ path: 'body.trigger.start_after' }] });
  });

  it('forgets the runs of a one-time trigger that gets another time, and those of another type', async () => {
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
    const other = (await create({ title: `Second ${turn}` })).body;
    const taken = await call('PATCH', `/script-profiles/${id}`, { title: other.title });
    expect(taken.body).toMatchObject({ error: 'DuplicateScriptProfile', code: 409 });
    for (let i = 0; i < 2; i++) {
      const answer = await call('POST', `/script-profiles/${id}:archive`);
      expect([answer.status, answer.text]).toEqual([204, '']);
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

describe('lists of script profiles', () => {
  it('filters by state, titles and parts of them, newest first', async () => {
    const made: Array<{ id: number; title: string }> = [];
    for (const name of ['alpha', 'beta', 'gamma']) {
      world.clock.advance(1000);
      made.push((await create({ title: `Listed ${name}` })).body);
    }
    await call('POST', `/script-profiles/${made[1]!.id}:archive`);
    const ids = async (query: string) =>
      (await call('GET', `/script-profiles?search=LISTED&${query}`)).body.results.map((p: { id: number }) => p.id);
    expect(await ids('')).toEqual([made[2]!.id, made[0]!.id]);
    expect(await ids('archived=archived')).toEqual([made[1]!.id]);
    expect(await ids('archived=all')).toEqual(made.map(({ id }) => id).toReversed());
    expect(await ids('archived=all&names=Listed%20alpha,Listed%20beta')).toEqual([made[1]!.id, made[0]!.id]);
    const page = (await call('GET', '/script-profiles?search=listed&archived=all&limit=1&offset=1')).body;
    expect(page).toMatchObject({ count: 3, results: [{ id: made[1]!.id }], next: expect.stringContaining('offset=2') });
    expect((await call('GET', '/script-profiles?archived=yes')).body).toMatchObject(refused);
    const ofScript = (await call('GET', `/scripts/${global}/script-profiles`)).body;
    expect(ofScript.results.map((p: { id: number }) => p.id)).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
    expect(ofScript.results.every((p: { script_id: number }) => p.script_id === global)).toBe(true);
  });

  it('shows only profiles of scripts in sight', async () => {
    const { id } = (await create()).body;
    const there = (await create({ script_id: servers, title: `Servers ${turn}` })).body;
    for (const token of [world.tokens.servers, world.tokens.foreign]) {
      expect((await call('GET', `/script-profiles/${id}`, undefined, token)).body.error).toBe('UnknownScriptProfile');
      for (const verb of ['', ':archive', '/activities', '/computers']) {
        const method = verb === ':archive' ? 'POST' : 'GET';
        expect((await call(method, `/script-profiles/${id}${verb}`, undefined, token)).status).toBe(404);
      }
    }
    const seen = (await call('GET', '/script-profiles', undefined, world.tokens.servers)).body.results;
    expect(seen.map((p: { id: number }) => p.id)).toContain(there.id);
    expect(seen.every((p: { script_id: number }) => p.script_id === servers)).toBe(true);
    expect((await call('PATCH', `/script-profiles/${id}`, { title: 'x' }, world.tokens.mixed)).status).toBe(403);
  });
});

describe('computers of a script profile', () => {
  it('counts, finds, lists and names the same ones', async () => {
    const tag = `tag-${turn}`;
    const { accountId } = world;
    const tagged = await insertComputer(world.db, { accountId, title: 'tagged', group: 'servers', tags: [tag, 'b'] });
    await insertComputer(world.db, { accountId, title: 'elsewhere', group: 'desktops', tags: [tag] });
    await insertComputer(world.db, { accountId, title: 'gone', group: 'servers', tags: [tag], archived: true });
    const scope = { script_id: servers, all_computers: false, tags: [tag, 'none'] };
    const { id, computers } = (await create(scope)).body;
    expect(computers.num_associated_computers).toBe(1);
    const idsOf = async (path: string, token?: string) =>
      (await call('GET', path, undefined, token)).body.results.map((c: { id: number }) => c.id);
    expect(await idsOf(`/script-profiles/${id}/computers`)).toEqual([tagged]);
    expect(await idsOf(`/computers?query=profile:script:${id}`)).toEqual([tagged]);
    expect(await idsOf(`/computers?query=profile:script:${id}`, world.tokens.foreign)).toEqual([]);
    expect(await idsOf(`/computers?query=NOT%20profile:script:${id}%20tag:${tag}`)).toHaveLength(1);
    const profiles = async () => (await call('GET', `/computers/${tagged}?with_profiles=true`)).body.profiles;
    expect(await profiles()).toContainEqual({ id, name: `Profile ${turn}`, title: `Profile ${turn}`, type: 'script' });
    await call('PATCH', `/script-profiles/${id}`, { trigger: event });
    expect((await call('GET', `/script-profiles/${id}`)).body.computers.num_associated_computers).toBe(0);
    expect(await idsOf(`/computers?query=profile:script:${id}`)).toEqual([]);
    expect((await profiles()).map((p: { id: number }) => p.id)).not.toContain(id);
  });

  it('are named by no archived profile, and by none of an archived script', async () => {
    const own = (await call('POST', '/scripts', script({ title: `Own ${turn}` }))).body.id;
    const { id } = (await create({ script_id: own })).body;
    await call('POST', `/scripts/${own}:archive`);
    expect((await call('GET', `/script-profiles/${id}`)).body.archived).toBe(true);
    expect((await call('GET', `/computers?query=profile:script:${id}`)).body.count).toBe(0);
    const redacted = (await call('POST', '/scripts', script({ title: `Red ${turn}` }))).body.id;
    const of = (await create({ script_id: redacted, title: `Red ${turn}` })).body.id;
    await call('POST', `/scripts/${redacted}:redact`);
    expect((await call('GET', `/script-profiles/${of}`)).body.archived).toBe(true);
  });
});

describe('activities of a script profile', () => {
  it('are its runs, newest first, the latest in the profile', async () => {
    const { id } = (await create({ script_id: servers })).body;
    const made: number[] = [];
    for (const query of [`id:${world.ids['web']}`, 'access-group:servers']) {
      world.clock.advance(1000);
      const run = (await call('POST', `/scripts/${servers}:execute`, { query })).body;
      await world.db.query(
        `insert into script_profile_run (account_id, profile_id, activity_id, started_at) values ($1, $2, $3, $4)`,
        [world.accountId, id, run.id, world.clock.now()],
      );
      made.unshift(run.id);
    }
    const path = `/script-profiles/${id}/activities`;
    const { body } = await call('GET', path);
    expect(body.results.map((a: { id: number }) => a.id)).toEqual(made);
    expect(body).toMatchObject({ count: 2, results: [{ computer: null }, { computer: { id: world.ids['web'] } }] });
    expect((await call('GET', `${path}?limit=1&offset=1`)).body.results).toHaveLength(1);
    const profile = (await call('GET', `/script-profiles/${id}`)).body;
    expect(profile.activities.last_activity).toEqual(body.results[0]);
    expect((await call('GET', path, undefined, world.tokens.servers)).body.count).toBe(2);
  });
});

describe('limits', () => {
  it('are shown', async () => {
    const { body } = await call('GET', '/script-profile-limits');
    expect(body).toEqual({ max_num_computers: 5000, max_num_profiles: 100, min_interval: 60 });
  });

  it('hold for profiles that are not archived, however many ask at once', async () => {
    const database = await createTestDatabase();
    await createAdmin(database.persistence);
    const scriptProfiles = { maxComputers: 10, maxProfiles: 2, minIntervalMinutes: 30 };
    const app = await createTestApp(database.persistence, { settings: { scriptProfiles } });
    try {
      const token = await app.login();
      const post = (path: string, body?: object) => app.call('POST', path, { token, ...(body && { body }) });
      const { id } = (await post('/scripts', script())).body;
      const asked = ['a', 'b', 'c', 'd'].map((title) => post('/script-profiles', scriptProfile(id, { title })));
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400]);
      const over = answers.find(({ status }) => status === 400)!;
      expect(over.body).toMatchObject({ error: 'ProfileLimitReached', code: 400 });
      await post(`/script-profiles/${answers.find(({ status }) => status === 201)!.body.id}:archive`);
      const trigger = recurring('*/30 * * * *');
      expect((await post('/script-profiles', scriptProfile(id, { title: 'e', trigger }))).status).toBe(201);
    } finally {
      await app.close();
      await database.drop();
    }
  });

  it('come from settings', () => {
    const env = { FLOTILLA_SCRIPT_PROFILE_MAX_PROFILES: '7', FLOTILLA_SCRIPT_PROFILE_MIN_INTERVAL: '5' };
    expect(loadConfig(env, 'stack').scriptProfiles).toEqual({
      maxComputers: 5000,
      maxProfiles: 7,
      minIntervalMinutes: 5,
    });
  });
});

describe('a deployment that is not self-hosted', () => {
  it('has no script profiles on any route, whatever is asked', async () => {
    const database = await createTestDatabase();
    await createAdmin(database.persistence);
    const app = await createTestApp(database.persistence, { deployment: 'saas' });
    try {
      const token = await app.login();
      const id = (await app.call('POST', '/scripts', { token, body: script() })).body.id;
      for (const [method, path, body] of [
        ['GET', '/script-profiles'],
        ['POST', '/script-profiles', {}],
        ['POST', '/script-profiles', scriptProfile(id)],
        ['GET', '/script-profiles/1'],
        ['PATCH', '/script-profiles/1', {}],
        ['POST', '/script-profiles/1:archive'],
        ['GET', '/script-profiles/1/activities'],
        ['GET', '/script-profiles/1/computers'],
        ['GET', '/script-profile-limits'],
        ['GET', `/scripts/${id}/script-profiles`],
      ] as const) {
        const answer = await app.call(method, path, { token, body });
        expect(answer.body, `${method} ${path}`).toMatchObject({ error: 'FeatureNotEnabled', code: 403 });
        expect((await app.call(method, path, { body })).body.error).toBe('Unauthorized');
      }
      expect((await app.call('GET', `/scripts/${id}`, { token })).body.script_profiles).toEqual([]);
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
