import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertComputer } from '../../support/computers/computers.ts';
import { PUBLIC_URL } from '../../support/http/app.ts';
import { event, HOUR, hourly, MINUTE, onceAt, script, text, TriggerWorld } from '../../support/scripts/scripts.ts';

let t: TriggerWorld;

beforeAll(async () => {
  t = await TriggerWorld.create();
});
afterAll(() => t?.close());
beforeEach(() => t.next());

describe('a one-time trigger', () => {
  it('runs at once when its time has come, in the response already', async () => {
    const at = t.inMs(-5 * MINUTE);
    const profile = await t.create(onceAt(at));
    expect(profile.trigger).toEqual({
      ...onceAt(at),
      timestamp: text(at),
      is_finished: true,
      last_run: text(t.now()),
      next_run: null,
    });
    const [run] = await t.runs(profile.id);
    expect(run).toMatchObject({ type: 'ActivityGroup', summary: 'Run script: Say hello', children_count: 3 });
    expect(profile.activities.last_activity).toMatchObject({ id: run.id, creator: { id: t.world.adminId } });
    expect(await t.computersOf(run.id)).toEqual(t.fleet());
    expect(await t.kind.startRun(profile.id, at, t.now())).toMatchObject({ outcome: 'known' });
    expect(await t.kind.desiredSchedule(t.world.db, profile.id, t.now())).toBeNull();
    expect(await t.runs(profile.id)).toHaveLength(1);
  });

  it('waits for its time, runs once and is finished', async () => {
    const at = t.inMs(90 * MINUTE);
    const { id, trigger } = await t.create(onceAt(at));
    expect(trigger).toMatchObject({ is_finished: false, last_run: null, next_run: text(at) });
    expect(await t.takeSyncCommands(id)).toBe(1);
    expect(await t.kind.desiredSchedule(t.world.db, id, t.now())).toMatchObject({
      times: { kind: 'dates', dates: [at] },
      note: expect.stringContaining(`${PUBLIC_URL}/api/v2/script-profiles/${id}`),
    });
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([]);
    t.world.clock.advance(90 * MINUTE);
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([{ profileId: id, scheduledTime: at }]);
    expect(await t.kind.startRun(id, at, t.now())).toMatchObject({ outcome: 'started' });
    expect(await t.kind.startRun(id, at, t.now())).toMatchObject({ outcome: 'known' });
    expect((await t.read(id)).trigger).toMatchObject({ is_finished: true, last_run: text(t.now()), next_run: null });
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([]);
    expect(await t.takeSyncCommands(id)).toBe(1);
    expect(await t.runs(id)).toHaveLength(1);
  });

  it('starts anew with another time, past or future, on computers at work too', async () => {
    const { id } = await t.create(onceAt(t.inMs(-HOUR)));
    const past = (await t.patch(id, onceAt(t.inMs(-MINUTE)))).trigger;
    expect(past).toMatchObject({ is_finished: true, last_run: text(t.now()) });
    expect((await t.runs(id)).map((run: { children_count: number }) => run.children_count)).toEqual([3, 3]);
    const at = t.inMs(HOUR);
    expect((await t.patch(id, onceAt(at))).trigger).toMatchObject({
      is_finished: false,
      last_run: null,
      next_run: text(at),
    });
    expect((await t.patch(id, onceAt(at))).trigger).toMatchObject({ is_finished: false, next_run: text(at) });
    // The date of a schedule that was not changed in time; long after the change, carried out, it is an operator's wish.
    expect(await t.kind.startRun(id, t.inMs(10_000), t.inMs(10_000))).toMatchObject({ outcome: 'not-planned' });
    expect(await t.kind.startRun(id, t.inMs(120_000), t.inMs(120_000))).toMatchObject({ outcome: 'not-planned' });
    expect(await t.runs(id)).toHaveLength(2);
    expect(await t.takeSyncCommands(id)).toBeGreaterThan(0);
    expect(await t.kind.startRun(id, t.inMs(120_000), t.inMs(120_000))).toMatchObject({ outcome: 'started' });
  });

  it('runs once by two that come at the same time', async () => {
    const at = t.inMs(HOUR);
    const { id } = await t.create(onceAt(at));
    t.world.clock.advance(HOUR);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => t.kind.startRun(id, at, t.now())));
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['known', 'known', 'known', 'known', 'started']);
    expect(await t.runs(id)).toHaveLength(1);
  });
});

describe('a recurring trigger', () => {
  it('runs at each of its dates once and reports the next', async () => {
    const first = t.nextHour();
    const { id, trigger } = await t.create(hourly());
    expect(trigger).toMatchObject({ last_run: null, next_run: text(first) });
    for (const hour of [0, 1, 2]) {
      const at = new Date(first.getTime() + hour * HOUR);
      t.world.clock.advance(at.getTime() - t.now().getTime() + 200);
      expect(await t.kind.startRun(id, at, t.now())).toMatchObject({ outcome: 'started' });
      expect(await t.kind.startRun(id, at, t.now())).toMatchObject({ outcome: 'known' });
      const next = text(new Date(at.getTime() + HOUR));
      expect((await t.read(id)).trigger).toMatchObject({ last_run: text(t.now()), next_run: next });
      await t.world.processEvents(true);
    }
    expect(await t.runs(id)).toHaveLength(3);
  });

  it('runs at its start, and not before', async () => {
    const start = new Date(t.nextHour().getTime() + 2 * HOUR);
    const { id, trigger } = await t.create(hourly({ start_after: start.toISOString() }));
    expect(trigger.next_run).toBe(text(start));
    expect(await t.kind.desiredSchedule(t.world.db, id, t.now())).toMatchObject({
      times: { kind: 'calendars', startAt: start, calendars: [{ minutes: [0] }] },
    });
    const before = new Date(start.getTime() - HOUR);
    t.world.clock.advance(before.getTime() - t.now().getTime());
    expect(await t.kind.startRun(id, before, t.now())).toMatchObject({ outcome: 'not-planned' });
    // A date at the start stays waited for under other cron text, also when it is due already.
    expect((await t.patch(id, { trigger_type: 'recurring', interval: '0 */1 * * *' })).trigger.next_run).toBe(
      text(start),
    );
    t.world.clock.advance(HOUR);
    await t.patch(id, { trigger_type: 'recurring', interval: '0 * * * *' });
    expect(await t.kind.startRun(id, start, t.now())).toMatchObject({ outcome: 'started' });
    expect((await t.read(id)).trigger.next_run).toBe(text(new Date(start.getTime() + HOUR)));
  });

  it('starts a second later when its start is a second later', async () => {
    const start = new Date(t.nextHour().getTime() + 2 * HOUR + 1000);
    const { trigger } = await t.create(hourly({ start_after: start.toISOString() }));
    expect(trigger.next_run).toBe(text(new Date(start.getTime() - 1000 + HOUR)));
  });

  it('makes up for an outage with exactly one run', async () => {
    const first = t.nextHour();
    const { id } = await t.create(hourly());
    t.world.clock.advance(first.getTime() - t.now().getTime() + 30 * HOUR + 10 * MINUTE);
    await t.refresh();
    const last = new Date(first.getTime() + 30 * HOUR);
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([{ profileId: id, scheduledTime: last }]);
    expect(await t.kind.startRun(id, first, t.now())).toMatchObject({ outcome: 'superseded' });
    expect(await t.kind.startRun(id, last, t.now())).toMatchObject({ outcome: 'started' });
    for (const hour of [0, 7, 29]) {
      expect(await t.kind.startRun(id, new Date(first.getTime() + hour * HOUR), t.now())).toMatchObject({
        outcome: 'superseded',
      });
    }
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([]);
    expect(await t.runs(id)).toHaveLength(1);
    expect((await t.read(id)).trigger.next_run).toBe(text(new Date(last.getTime() + HOUR)));
  });

  it('leaves out computers that are still at work, and skips a date when all are', async () => {
    const first = t.nextHour();
    const { id } = await t.create(hourly());
    const later = (hours: number) => new Date(first.getTime() + hours * HOUR);
    t.world.clock.advance(first.getTime() - t.now().getTime());
    expect(await t.kind.startRun(id, first, t.now())).toMatchObject({ outcome: 'started' });
    const started = text(t.now());
    t.world.clock.advance(HOUR);
    expect(await t.kind.startRun(id, later(1), t.now())).toMatchObject({ outcome: 'busy' });
    expect((await t.read(id)).trigger).toMatchObject({ last_run: started, next_run: text(later(2)) });
    const [noted] = await t.world.db.query(
      `select message, person_id from event where entity_id = $1 order by id desc limit 1`,
      [id],
    );
    expect(noted).toMatchObject({ message: expect.stringContaining('Skipped a scheduled run'), person_id: null });
    const extra = await insertComputer(t.world.db, { accountId: t.world.accountId, title: `extra-${t.turn}` });
    t.world.clock.advance(HOUR);
    expect(await t.kind.startRun(id, later(2), t.now())).toMatchObject({ outcome: 'started' });
    expect(await t.computersOf((await t.runs(id))[1].id)).toEqual([extra]);
    await t.world.db.query('update computer set archived = true where id = $1', [extra]);
  });

  it('takes at most so many computers, those with the lowest ids, and runs on none as well', async () => {
    const first = t.nextHour();
    const { id } = await t.create(hourly());
    const none = await t.create(hourly(), { title: `None ${t.turn}`, all_computers: false, tags: ['nobody'] });
    t.world.clock.advance(first.getTime() - t.now().getTime());
    expect(await t.kindWith({ maxComputers: 2 }).startRun(id, first, t.now())).toMatchObject({ outcome: 'started' });
    expect(await t.computersOf((await t.runs(id))[0].id)).toEqual(t.fleet().slice(0, 2));
    expect(await t.kind.startRun(none.id, first, t.now())).toMatchObject({ outcome: 'started' });
    expect((await t.runs(none.id))[0]).toMatchObject({ activity_status: 'succeeded', children_count: 0 });
  });

  it('keeps its runs apart by limits that came later', async () => {
    const first = t.nextHour();
    const { id } = await t.create(hourly());
    const strict = t.kindWith({ minIntervalMinutes: 150 });
    const later = (hours: number) => new Date(first.getTime() + hours * HOUR);
    t.world.clock.advance(first.getTime() - t.now().getTime());
    const outcomes: string[] = [];
    for (const hour of [0, 1, 2, 3]) {
      outcomes.push((await strict.startRun(id, later(hour), t.now())).outcome);
      await t.world.processEvents(true);
      t.world.clock.advance(HOUR);
    }
    expect(outcomes).toEqual(['started', 'superseded', 'superseded', 'started']);
    expect((await t.read(id)).trigger.next_run).toBe(text(later(6)));
  });

  it('may become one of any other type, and its schedule follows', async () => {
    const { id } = await t.create(hourly());
    const desired = async () => (await t.kind.desiredSchedule(t.world.db, id, t.now()))?.times ?? null;
    expect(await t.takeSyncCommands(id)).toBe(1);
    expect(await desired()).toMatchObject({ kind: 'calendars' });
    const at = t.inMs(3 * HOUR);
    for (const [trigger, expected] of [
      [onceAt(at), { kind: 'dates', dates: [at] }],
      [event, null],
      [
        hourly({ interval: '15 3 13 * fri' }),
        { kind: 'calendars', calendars: [{ daysOfMonth: [13] }, { daysOfWeek: [5] }] },
      ],
      [event, null],
      [onceAt(at), { kind: 'dates' }],
      [hourly(), { kind: 'calendars' }],
    ] as const) {
      await t.patch(id, trigger);
      expect(await t.takeSyncCommands(id)).toBe(1);
      if (expected === null) expect(await desired()).toBeNull();
      else expect(await desired()).toMatchObject(expected);
    }
    expect(await t.kind.startRun(id, at, t.now())).toMatchObject({ outcome: 'not-planned' });
    expect((await t.call('POST', `/script-profiles/${id}:archive`)).status).toBe(204);
    expect(await t.takeSyncCommands(id)).toBe(1);
    expect(await desired()).toBeNull();
    expect(await t.kind.startRun(id, t.nextHour(), t.nextHour())).toMatchObject({ outcome: 'archived' });
    expect(await t.runs(id)).toEqual([]);
  });

  it('still runs a date that was due when its text was changed', async () => {
    const first = t.nextHour();
    const { id } = await t.create(hourly());
    t.world.clock.advance(first.getTime() - t.now().getTime() + 300);
    await t.patch(id, { trigger_type: 'recurring', interval: '30 4 * * *' });
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([{ profileId: id, scheduledTime: first }]);
    expect(await t.kind.startRun(id, first, t.now())).toMatchObject({ outcome: 'started' });
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([]);
  });

  it('goes with its script', async () => {
    const { id: own } = (await t.call('POST', '/scripts', script({ title: `Own ${t.turn}` }))).body;
    const profile = await t.create(hourly(), { script_id: own });
    await t.takeSyncCommands(profile.id);
    expect((await t.call('POST', `/scripts/${own}:archive`)).status).toBe(204);
    expect(await t.takeSyncCommands(profile.id)).toBe(1);
    expect(await t.kind.desiredSchedule(t.world.db, profile.id, t.now())).toBeNull();
    expect(await t.read(profile.id)).toMatchObject({ archived: true, trigger: { next_run: null } });
  });
});

describe('GET /script-profiles/<id>/upcoming-dates', () => {
  const dates = async (id: number, query = '') =>
    (await t.call('GET', `/script-profiles/${id}/upcoming-dates${query}`)).body;

  it('lists the next runs of a recurring trigger, none once it is archived', async () => {
    const { id } = await t.create(hourly(), { timezone: 'Europe/Berlin' });
    const first = t.nextHour();
    expect(await dates(id, '?limit=3')).toEqual({
      timezone: 'Europe/Berlin',
      dates: [0, 1, 2].map((hours) => text(new Date(first.getTime() + hours * HOUR))),
    });
    expect((await dates(id)).dates).toHaveLength(5);
    expect(await dates(id, '?limit=13')).toMatchObject({ error: 'InvalidParameter', code: 400 });
    await t.call('POST', `/script-profiles/${id}:archive`);
    expect((await dates(id)).dates).toEqual([]);
    expect((await dates(999_999)).error).toBe('UnknownScriptProfile');
  });

  it('has one date of a one-time trigger and none of one for new computers', async () => {
    const at = t.inMs(HOUR);
    expect(await dates((await t.create(onceAt(at))).id)).toEqual({ timezone: 'UTC', dates: [text(at)] });
    expect((await dates((await t.create(onceAt(t.inMs(-HOUR)), { title: 'Over' })).id)).dates).toEqual([]);
    expect((await dates((await t.create(event, { title: 'Enrolment' })).id)).dates).toEqual([]);
  });
});
