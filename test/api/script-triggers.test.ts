import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/logger.ts';
import type { ProfileKind } from '../../src/services/schedule/profile-kind.ts';
import { createScriptKind } from '../../src/services/schedule/script-kind.ts';
import { SETTINGS } from '../support/activity-rows.ts';
import { PUBLIC_URL } from '../support/app.ts';
import { insertComputer } from '../support/computers.ts';
import { createFleetWorld, type FleetWorld } from '../support/fleet-world.ts';
import { script, scriptProfile } from '../support/scripts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const { scriptProfiles: LIMITS } = loadConfig({}, 'stack');

let world: FleetWorld;
let kind: ProfileKind;
let scriptId: number;
let token: string;
let turn = 0;

beforeAll(async () => {
  world = await createFleetWorld();
  kind = kindWith({});
  await refresh();
  scriptId = (await call('POST', '/scripts', script())).body.id;
});
afterAll(() => world?.close());
beforeEach(async () => {
  turn++;
  await world.settle(true);
  // The clock goes on by days: tokens end.
  await refresh();
});

const kindWith = (limits: Partial<typeof LIMITS>) =>
  createScriptKind({
    db: world.db,
    logger: createLogger({ level: 'silent', role: 'test' }),
    settings: SETTINGS,
    limits: { ...LIMITS, ...limits },
    publicUrl: PUBLIC_URL,
  });
const refresh = async () => {
  token = await world.app.login();
};
const call = (method: string, path: string, body?: unknown) =>
  world.app.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = async (trigger: object, over: object = {}) => {
  const answer = await call(
    'POST',
    '/script-profiles',
    scriptProfile(scriptId, { title: `T${turn}`, trigger, ...over }),
  );
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const read = async (id: number) => (await call('GET', `/script-profiles/${id}`)).body;
const patch = async (id: number, trigger: object) => (await call('PATCH', `/script-profiles/${id}`, { trigger })).body;
const runs = async (id: number) => (await call('GET', `/script-profiles/${id}/activities`)).body.results.toReversed();
const once = (at: Date) => ({ trigger_type: 'one_time', timestamp: at.toISOString() });
const hourly = (over: object = {}) => ({
  trigger_type: 'recurring',
  start_after: '2026-11-20T00:00:00Z',
  interval: '0 * * * *',
  ...over,
});
const event = { trigger_type: 'event', event_type: 'post_enrollment' };
const now = () => world.clock.now();
const inMs = (ms: number) => new Date(Math.floor((now().getTime() + ms) / 1000) * 1000);
const text = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;
const nextHour = () => new Date((Math.floor(now().getTime() / HOUR) + 1) * HOUR);
const computersOf = async (activity: number) =>
  (
    await world.db.query<{ computer_id: number }>(
      'select computer_id from activity where parent_id = $1 order by computer_id',
      [activity],
    )
  ).map(({ computer_id }) => computer_id);
const orders = async (id: number) =>
  (await world.db.query(`delete from outbox where kind = 'schedule_sync' and key = $1 returning key`, [`script/${id}`]))
    .length;
const fleet = () => [world.ids['web']!, world.ids['db']!, world.ids['desk']!].sort((a, b) => a - b);

describe('a one-time trigger', () => {
  it('runs at once when its time has come, in the answer already', async () => {
    const at = inMs(-5 * MINUTE);
    const profile = await create(once(at));
    expect(profile.trigger).toEqual({
      ...once(at),
      timestamp: text(at),
      is_finished: true,
      last_run: text(now()),
      next_run: null,
    });
    const [run] = await runs(profile.id);
    expect(run).toMatchObject({ type: 'ActivityGroup', summary: 'Run script: Say hello', children_count: 3 });
    expect(profile.activities.last_activity).toMatchObject({ id: run.id, creator: { id: world.adminId } });
    expect(await computersOf(run.id)).toEqual(fleet());
    expect(await kind.startDue(profile.id, at, now())).toBe('known');
    expect(await kind.desired(world.db, profile.id, now())).toBeNull();
    expect(await runs(profile.id)).toHaveLength(1);
  });

  it('waits for its time, runs once and is finished', async () => {
    const at = inMs(90 * MINUTE);
    const { id, trigger } = await create(once(at));
    expect(trigger).toMatchObject({ is_finished: false, last_run: null, next_run: text(at) });
    expect(await orders(id)).toBe(1);
    expect(await kind.desired(world.db, id, now())).toMatchObject({
      times: { kind: 'dates', dates: [at] },
      note: expect.stringContaining(`${PUBLIC_URL}/api/v2/script-profiles/${id}`),
    });
    expect(await kind.missed(now(), id)).toEqual([]);
    world.clock.advance(90 * MINUTE);
    expect(await kind.missed(now(), id)).toEqual([{ profileId: id, nominalTime: at }]);
    expect(await kind.startDue(id, at, now())).toBe('started');
    expect(await kind.startDue(id, at, now())).toBe('known');
    expect((await read(id)).trigger).toMatchObject({ is_finished: true, last_run: text(now()), next_run: null });
    expect(await kind.missed(now(), id)).toEqual([]);
    expect(await orders(id)).toBe(1);
    expect(await runs(id)).toHaveLength(1);
  });

  it('begins anew with another time, past or future, on computers at work too', async () => {
    const { id } = await create(once(inMs(-HOUR)));
    const past = (await patch(id, once(inMs(-MINUTE)))).trigger;
    expect(past).toMatchObject({ is_finished: true, last_run: text(now()) });
    expect((await runs(id)).map((run: { children_count: number }) => run.children_count)).toEqual([3, 3]);
    const at = inMs(HOUR);
    expect((await patch(id, once(at))).trigger).toMatchObject({
      is_finished: false,
      last_run: null,
      next_run: text(at),
    });
    expect((await patch(id, once(at))).trigger).toMatchObject({ is_finished: false, next_run: text(at) });
    // The date of a schedule that was not changed in time; long after the change it is an operator's wish.
    expect(await kind.startDue(id, inMs(10_000), inMs(10_000))).toBe('not-planned');
    expect(await runs(id)).toHaveLength(2);
    expect(await kind.startDue(id, inMs(120_000), inMs(120_000))).toBe('started');
  });

  it('runs once by two that come at the same time', async () => {
    const at = inMs(HOUR);
    const { id } = await create(once(at));
    world.clock.advance(HOUR);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => kind.startDue(id, at, now())));
    expect(outcomes.sort()).toEqual(['known', 'known', 'known', 'known', 'started']);
    expect(await runs(id)).toHaveLength(1);
  });
});

describe('a recurring trigger', () => {
  it('runs at each of its dates once and tells the next', async () => {
    const first = nextHour();
    const { id, trigger } = await create(hourly());
    expect(trigger).toMatchObject({ last_run: null, next_run: text(first) });
    for (const hour of [0, 1, 2]) {
      const at = new Date(first.getTime() + hour * HOUR);
      world.clock.advance(at.getTime() - now().getTime() + 200);
      expect(await kind.startDue(id, at, now())).toBe('started');
      expect(await kind.startDue(id, at, now())).toBe('known');
      const next = text(new Date(at.getTime() + HOUR));
      expect((await read(id)).trigger).toMatchObject({ last_run: text(now()), next_run: next });
      await world.settle(true);
    }
    expect(await runs(id)).toHaveLength(3);
  });

  it('begins strictly after its start', async () => {
    const start = new Date(nextHour().getTime() + 2 * HOUR);
    const { id, trigger } = await create(hourly({ start_after: start.toISOString() }));
    const first = new Date(start.getTime() + HOUR);
    expect(trigger.next_run).toBe(text(first));
    expect(await kind.desired(world.db, id, now())).toMatchObject({
      times: { kind: 'calendars', startAt: new Date(start.getTime() + 1000), calendars: [{ minutes: [0] }] },
    });
    world.clock.advance(start.getTime() - now().getTime());
    expect(await kind.startDue(id, start, now())).toBe('not-planned');
    world.clock.advance(HOUR);
    expect(await kind.startDue(id, first, now())).toBe('started');
  });

  it('makes up for a time away with exactly one run', async () => {
    const first = nextHour();
    const { id } = await create(hourly());
    world.clock.advance(first.getTime() - now().getTime() + 30 * HOUR + 10 * MINUTE);
    await refresh();
    const last = new Date(first.getTime() + 30 * HOUR);
    expect(await kind.missed(now(), id)).toEqual([{ profileId: id, nominalTime: last }]);
    expect(await kind.startDue(id, first, now())).toBe('superseded');
    expect(await kind.startDue(id, last, now())).toBe('started');
    for (const hour of [0, 7, 29]) {
      expect(await kind.startDue(id, new Date(first.getTime() + hour * HOUR), now())).toBe('superseded');
    }
    expect(await kind.missed(now(), id)).toEqual([]);
    expect(await runs(id)).toHaveLength(1);
    expect((await read(id)).trigger.next_run).toBe(text(new Date(last.getTime() + HOUR)));
  });

  it('leaves out computers that are still at work, and skips a date when all are', async () => {
    const first = nextHour();
    const { id } = await create(hourly());
    const later = (hours: number) => new Date(first.getTime() + hours * HOUR);
    world.clock.advance(first.getTime() - now().getTime());
    expect(await kind.startDue(id, first, now())).toBe('started');
    const started = text(now());
    world.clock.advance(HOUR);
    expect(await kind.startDue(id, later(1), now())).toBe('busy');
    expect((await read(id)).trigger).toMatchObject({ last_run: started, next_run: text(later(2)) });
    const [noted] = await world.db.query(
      `select message, person_id from event where entity_id = $1 order by id desc limit 1`,
      [id],
    );
    expect(noted).toMatchObject({ message: expect.stringContaining('Skipped a scheduled run'), person_id: null });
    const extra = await insertComputer(world.db, { accountId: world.accountId, title: `extra-${turn}` });
    world.clock.advance(HOUR);
    expect(await kind.startDue(id, later(2), now())).toBe('started');
    expect(await computersOf((await runs(id))[1].id)).toEqual([extra]);
    await world.db.query('update computer set archived = true where id = $1', [extra]);
  });

  it('takes at most so many computers, those with the lowest ids, and runs on none as well', async () => {
    const first = nextHour();
    const { id } = await create(hourly());
    const none = await create(hourly(), { title: `None ${turn}`, all_computers: false, tags: ['nobody'] });
    world.clock.advance(first.getTime() - now().getTime());
    expect(await kindWith({ maxComputers: 2 }).startDue(id, first, now())).toBe('started');
    expect(await computersOf((await runs(id))[0].id)).toEqual(fleet().slice(0, 2));
    expect(await kind.startDue(none.id, first, now())).toBe('started');
    expect((await runs(none.id))[0]).toMatchObject({ activity_status: 'succeeded', children_count: 0 });
  });

  it('keeps its runs apart by limits that came later', async () => {
    const first = nextHour();
    const { id } = await create(hourly());
    const strict = kindWith({ minIntervalMinutes: 150 });
    const later = (hours: number) => new Date(first.getTime() + hours * HOUR);
    world.clock.advance(first.getTime() - now().getTime());
    const outcomes: string[] = [];
    for (const hour of [0, 1, 2, 3]) {
      outcomes.push(await strict.startDue(id, later(hour), now()));
      await world.settle(true);
      world.clock.advance(HOUR);
    }
    expect(outcomes).toEqual(['started', 'superseded', 'superseded', 'started']);
    expect((await read(id)).trigger.next_run).toBe(text(later(6)));
  });

  it('may become one of any other type, and its schedule follows', async () => {
    const { id } = await create(hourly());
    const desired = async () => (await kind.desired(world.db, id, now()))?.times ?? null;
    expect(await orders(id)).toBe(1);
    expect(await desired()).toMatchObject({ kind: 'calendars' });
    const at = inMs(3 * HOUR);
    for (const [trigger, expected] of [
      [once(at), { kind: 'dates', dates: [at] }],
      [event, null],
      [
        hourly({ interval: '15 3 13 * fri' }),
        { kind: 'calendars', calendars: [{ daysOfMonth: [13] }, { daysOfWeek: [5] }] },
      ],
      [event, null],
      [once(at), { kind: 'dates' }],
      [hourly(), { kind: 'calendars' }],
    ] as const) {
      await patch(id, trigger);
      expect(await orders(id)).toBe(1);
      if (expected === null) expect(await desired()).toBeNull();
      else expect(await desired()).toMatchObject(expected);
    }
    expect(await kind.startDue(id, at, now())).toBe('not-planned');
    expect((await call('POST', `/script-profiles/${id}:archive`)).status).toBe(204);
    expect(await orders(id)).toBe(1);
    expect(await desired()).toBeNull();
    expect(await kind.startDue(id, nextHour(), nextHour())).toBe('archived');
    expect(await runs(id)).toEqual([]);
  });

  it('still runs a date that was due when its text was changed', async () => {
    const first = nextHour();
    const { id } = await create(hourly());
    world.clock.advance(first.getTime() - now().getTime() + 300);
    await patch(id, { trigger_type: 'recurring', interval: '30 4 * * *' });
    expect(await kind.missed(now(), id)).toEqual([{ profileId: id, nominalTime: first }]);
    expect(await kind.startDue(id, first, now())).toBe('started');
    expect(await kind.missed(now(), id)).toEqual([]);
  });

  it('goes with its script', async () => {
    const { id: own } = (await call('POST', '/scripts', script({ title: `Own ${turn}` }))).body;
    const profile = await create(hourly(), { script_id: own });
    await orders(profile.id);
    expect((await call('POST', `/scripts/${own}:archive`)).status).toBe(204);
    expect(await orders(profile.id)).toBe(1);
    expect(await kind.desired(world.db, profile.id, now())).toBeNull();
    expect(await read(profile.id)).toMatchObject({ archived: true, trigger: { next_run: null } });
  });
});

describe('post_enrollment', () => {
  const pending = (title: string, over: object = {}) =>
    insertComputer(world.db, { accountId: world.accountId, title, state: 'pending', ...over });
  const accept = (ids: readonly number[]) => call('POST', '/pending-computers:accept', { computer_ids: ids });

  it('runs once on each computer in scope when it is accepted', async () => {
    const all = await create(event, { title: `All ${turn}` });
    const tagged = await create(event, { title: `Tagged ${turn}`, all_computers: false, tags: ['lab'] });
    const gone = await create(event, { title: `Gone ${turn}` });
    await call('POST', `/script-profiles/${gone.id}:archive`);
    expect(await runs(all.id)).toEqual([]);
    const [plain, lab] = [await pending('new-1'), await pending('new-2', { tags: ['lab'] })];
    expect((await accept([plain, lab])).status).toBe(200);
    const [run] = await runs(all.id);
    expect(run).toMatchObject({ summary: 'Run script: Say hello', creator: { id: world.adminId }, children_count: 2 });
    expect(await computersOf(run.id)).toEqual([plain, lab]);
    expect(await computersOf((await runs(tagged.id))[0].id)).toEqual([lab]);
    expect(await runs(gone.id)).toEqual([]);
    expect(await read(all.id)).toMatchObject({
      trigger: event,
      computers: { num_associated_computers: 0 },
      activities: { last_activity: { id: run.id } },
    });
    expect((await accept([plain])).status).toBe(404);
    expect(await runs(all.id)).toHaveLength(1);
    for (const { id } of [all, tagged]) await call('POST', `/script-profiles/${id}:archive`);
  });

  it('leaves nobody out when there are more than a run may have', async () => {
    const { id } = await create(event);
    const ids = [await pending('m-1'), await pending('m-2'), await pending('m-3')];
    const { services } = world.app;
    expect(services.scriptProfiles.limits.maxComputers).toBeGreaterThan(3);
    const { acceptComputers } = await import('../../src/services/acceptance.ts');
    await world.db.transaction((tx) =>
      acceptComputers(
        tx,
        { accountId: world.accountId, computerIds: ids, accessGroupId: null, now: now() },
        { settings: SETTINGS, limits: { ...LIMITS, maxComputers: 2 }, publicUrl: PUBLIC_URL },
      ),
    );
    const made = await runs(id);
    expect(await Promise.all(made.map((run: { id: number }) => computersOf(run.id)))).toEqual([
      ids.slice(0, 2),
      [ids[2]],
    ]);
    await call('POST', `/script-profiles/${id}:archive`);
  });

  it('1,000 computers at once with three profiles: each runs once on each, also when the first try dies', async () => {
    const profiles = [];
    for (const n of [1, 2, 3]) profiles.push(await create(event, { title: `Batch ${n}` }));
    const rows = await world.db.query<{ id: number }>(
      `insert into computer (account_id, access_group_id, state, title, registered_at)
       select $1, g.id, 'pending', 'batch-' || n, now() from access_group g, generate_series(1, 1000) n
       where g.account_id = $1 and g.name = 'global' returning id`,
      [world.accountId],
    );
    const ids = rows.map(({ id }) => id);
    const { acceptComputers } = await import('../../src/services/acceptance.ts');
    const acceptance = { accountId: world.accountId, computerIds: ids, accessGroupId: null, now: now() };
    const deps = { settings: SETTINGS, limits: LIMITS, publicUrl: PUBLIC_URL };
    const died = world.db.transaction(async (tx) => {
      await acceptComputers(tx, acceptance, deps);
      await tx.query('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(died).rejects.toThrow();
    expect(await Promise.all(profiles.map(({ id }) => runs(id)))).toEqual([[], [], []]);
    const began = performance.now();
    expect((await accept(ids)).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(30_000);
    const [counted] = await world.db.query(
      `select count(*)::int as operations, count(distinct (r.profile_id, k.computer_id))::int as pairs
       from script_profile_run r join activity k on k.parent_id = r.activity_id
       where r.profile_id = any($1::int[]) and k.computer_id = any($2::int[])`,
      [profiles.map(({ id }) => id), ids],
    );
    expect(counted).toEqual({ operations: 3000, pairs: 3000 });
    for (const { id } of profiles) {
      expect((await runs(id)).map((run: { children_count: number }) => run.children_count)).toEqual([1000]);
    }
  });
});
