import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextZonedDates } from '../../../src/domain/schedules/zoned-dates.ts';
import { createLogger } from '../../../src/process/logger.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { zonedCalendars } from '../../../src/services/schedules/cron-dates.ts';
import { compareSchedules, startMissedRuns } from '../../../src/services/schedules/missed-runs.ts';
import { createProfileSchedules } from '../../../workers/reconciler/ports.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { createScriptWorld, type ScriptWorld } from '../../support/scripts/scripts.ts';
import { inSeconds, schedulesOf, until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let world: ScriptWorld;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  runtime.startDispatcher();
  await runtime.startScheduleWorker();
  world = await createScriptWorld(runtime.db, systemClock);
});

afterAll(async () => {
  await runtime?.close();
});

const HOUR = 3_600_000;
const utcDates = (interval: string, after: Date, limit: number) =>
  nextZonedDates(zonedCalendars({ interval, timezone: 'UTC' }), after, limit);
const { handle, exists, schedulesSynced } = schedulesOf(() => runtime, 'script');
const silent = () => ({
  ...runtime,
  schedules: createProfileSchedules(runtime.client),
  logger: createLogger({ level: 'silent', role: 'test' }),
});
const recurring = (interval: string, startAfter = inSeconds(-60)) => ({
  type: 'recurring',
  interval,
  startAfter: startAfter.toISOString(),
});
const once = (at: Date) => ({ type: 'one_time', timestamp: at.toISOString() });
const patch = (id: number, trigger: object) => world.profiles.patch(world.caller, id, { trigger, traceparent: null });
const read = async (id: number) => (await world.profiles.get(world.caller, id)).state;

describe('the schedule of a script profile', () => {
  it.each(['30 2 * * *', '0 5 13 * fri', '15 */8 1,31 jan-mar,dec *', '0 0 29 2 *', '5 4 */10 6 0-2/2'])(
    'means the dates of %s to the server',
    async (interval) => {
      const startAfter = inSeconds(3600);
      const { id, state } = await world.create(recurring(interval, startAfter));
      await until(() => exists(id));
      const { info, state: declared, policies } = await handle(id).describe();
      const dates = info.nextActionTimes;
      expect(dates.length).toBeGreaterThan(3);
      expect(dates).toEqual(utcDates(interval, new Date(startAfter.getTime() - 1), dates.length));
      expect(state.nextRun).toEqual(dates[0]);
      expect(declared).toMatchObject({ paused: false, note: expect.stringContaining(`"${interval}"`) });
      expect(policies).toMatchObject({ overlap: 'ALLOW_ALL', catchupWindow: 24 * HOUR });
    },
  );

  it('starts at its start time', async () => {
    const [start, next] = utcDates('0 * * * *', new Date(Date.now() + HOUR), 2);
    const { id, state } = await world.create(recurring('0 * * * *', start));
    await until(() => exists(id));
    expect((await handle(id).describe()).info.nextActionTimes.slice(0, 2)).toEqual([start, next]);
    expect(state.nextRun).toEqual(start);
  });

  it.each([
    ['30 2 * * sun', 'Europe/Berlin'],
    ['0 0 1 * *', 'America/Santiago'],
    ['15 23 28 */2 *', 'Asia/Kolkata'],
    ['45 1 * * 0', 'Australia/Lord_Howe'],
  ])('means the dates of %s in %s to the server, whatever clocks there do', async (interval, timezone) => {
    const startAfter = inSeconds(3600);
    const { id, state } = await world.create(recurring(interval, startAfter), timezone);
    await until(() => exists(id));
    const { info, spec, state: declared } = await handle(id).describe();
    const dates = nextZonedDates(zonedCalendars({ interval, timezone }), new Date(startAfter.getTime() - 1), 26);
    expect(spec.calendars).toHaveLength(26);
    expect(info.nextActionTimes.length).toBeGreaterThan(5);
    expect(info.nextActionTimes).toEqual(dates.slice(0, info.nextActionTimes.length));
    expect(state.nextRun).toEqual(dates[0]);
    expect(declared.note).toContain(`"${interval}" in ${timezone}`);
    await world.profiles.archive(world.caller, id);
  });

  it('runs at its dates in a time zone, and gets further ones', async () => {
    const { id } = await world.create(recurring('* * * * *'), 'Asia/Kathmandu');
    await until(() => exists(id));
    const [first] = (await handle(id).describe()).info.nextActionTimes;
    await runtime.db.query('update script_profile set planned_until = $2 where id = $1', [id, first]);
    await until(async () => (await world.runs(id)).length > 0, 90_000);
    expect((await world.runs(id))[0]!.nominal_time).toEqual(first);
    await until(async () => {
      const calendars = (await handle(id).describe()).spec.calendars ?? [];
      return calendars.length === 26 && (await read(id)).nextRun!.getTime() > first!.getTime();
    });
    const [next] = (await handle(id).describe()).info.nextActionTimes;
    expect(next!.getTime()).toBeGreaterThan(first!.getTime());
    await world.profiles.archive(world.caller, id);
    await until(async () => !(await exists(id)));
  });

  it('follows the time zone of its profile', async () => {
    const { id } = await world.create(recurring('0 3 1 * *'));
    await until(() => exists(id));
    const { state } = await world.profiles.patch(world.caller, id, { timezone: 'Asia/Tokyo', traceparent: null });
    await until(async () => (await handle(id).describe()).state.note?.includes('in Asia/Tokyo') === true);
    expect((await handle(id).describe()).info.nextActionTimes[0]).toEqual(state.nextRun);
    expect(state.nextRun!.getUTCHours()).toBe(18);
    await schedulesSynced();
    // It is as it should be from then on.
    const listed = async () => {
      for await (const { scheduleId, state } of runtime.client.schedule.list())
        if (scheduleId === `script/${id}`) return state.note?.includes('in Asia/Tokyo') === true;
      return false;
    };
    await until(listed);
    const { lastUpdatedAt } = (await handle(id).describe()).info;
    await compareSchedules(silent(), new Date(Date.now() + 180_000));
    await schedulesSynced();
    expect((await handle(id).describe()).info.lastUpdatedAt).toEqual(lastUpdatedAt);
    await world.profiles.archive(world.caller, id);
  });

  it('runs a one-time profile once at its time, and goes', async () => {
    const at = inSeconds(3);
    const { id, state } = await world.create(once(at));
    expect(state).toEqual({ isFinished: false, lastRun: null, nextRun: at });
    await until(async () => (await world.runs(id)).length > 0, 15_000);
    const [run] = await world.runs(id);
    expect(run!.nominal_time).toEqual(at);
    expect(await read(id)).toEqual({ isFinished: true, lastRun: run!.started_at, nextRun: null });
    await until(async () => !(await exists(id)));
    await startMissedRuns(silent(), new Date(Date.now() + 120_000));
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('runs a one-time profile no more that an operator had run before its time', async () => {
    const at = inSeconds(3600);
    const { id } = await world.create(once(at));
    await until(() => exists(id));
    // Just after an edit it would be taken for a date that was planned before.
    await runtime.db.query(
      `update script_profile set last_edited_at = last_edited_at - interval '5 minutes' where id = $1`,
      [id],
    );
    await handle(id).trigger();
    await until(async () => (await world.runs(id)).length === 1);
    const finished = { isFinished: true, lastRun: (await world.runs(id))[0]!.started_at, nextRun: null };
    expect(await read(id)).toEqual(finished);
    await until(async () => !(await exists(id)));
    const kind = runtime.kinds.get('script')!;
    expect(await kind.startRun(id, at, at)).toMatchObject({ outcome: 'known' });
    expect((await patch(id, once(at))).state).toEqual(finished);
    // As releases before this one left it.
    await runtime.db.query('update script_profile set due_at = $2 where id = $1', [id, at]);
    expect(await read(id)).toEqual(finished);
    expect(await kind.startRun(id, at, at)).toMatchObject({ outcome: 'known' });
    expect(await kind.datesDueBefore(at, { profileId: id })).toEqual([]);
    // Neither does an edit that changes nothing, once its time has passed.
    const past = inSeconds(-60);
    await runtime.db.query('update script_profile set run_at = $2 where id = $1', [id, past]);
    expect((await patch(id, once(past))).state).toEqual(finished);
    expect(await world.runs(id)).toHaveLength(1);
    const later = inSeconds(7200);
    expect((await patch(id, once(later))).state).toEqual({ isFinished: false, lastRun: null, nextRun: later });
    await world.profiles.archive(world.caller, id);
  });

  it('follows every change of the trigger, and goes with the profile', async () => {
    const { id } = await world.create(recurring('0 3 * * *'));
    await until(() => exists(id));
    const at = inSeconds(7200);
    await patch(id, once(at));
    await until(async () => (await handle(id).describe()).info.nextActionTimes[0]?.getTime() === at.getTime());
    expect((await handle(id).describe()).info.nextActionTimes).toHaveLength(1);
    await patch(id, { type: 'event', eventType: 'post_enrollment' });
    await until(async () => !(await exists(id)));
    await patch(id, recurring('0 6 1 * *'));
    await until(() => exists(id));
    expect((await handle(id).describe()).info.nextActionTimes[0]).toEqual((await read(id)).nextRun);
    await world.profiles.archive(world.caller, id);
    await until(async () => !(await exists(id)));
    expect(await world.runs(id)).toEqual([]);
  });

  it('is made anew when it was lost', async () => {
    const { id } = await world.create(recurring('0 3 * * *'));
    await until(() => exists(id));
    await schedulesSynced();
    await handle(id).delete();
    // The list shows it for a while.
    await until(async () => {
      await compareSchedules(silent(), new Date(Date.now() + 180_000));
      return exists(id);
    });
  });

  it('follows its profile again when the server has it as it was before a change', async () => {
    const { id } = await world.create(recurring('0 3 * * *'));
    await until(() => exists(id));
    await schedulesSynced();
    const spec = { calendars: [{ hour: 5 }] };
    await handle(id).update((was) => ({
      ...was,
      spec,
      state: { paused: false, note: 'Script by cron "0 5 * * *" in UTC' },
    }));
    const later = new Date(Date.now() + 180_000);
    await until(async () => {
      await compareSchedules(silent(), later);
      return (await handle(id).describe()).state.note?.startsWith('Script by cron "0 3 * * *"') === true;
    });
    const [next] = (await handle(id).describe()).info.nextActionTimes;
    expect(next).toEqual((await read(id)).nextRun);
    await schedulesSynced();
    // What is as it should be is not touched, however often it is compared.
    const listed = async () => {
      for await (const { scheduleId, state } of runtime.client.schedule.list())
        if (scheduleId === `script/${id}`) return state.note?.startsWith('Script by cron "0 3 * * *"') === true;
      return false;
    };
    await until(listed);
    const { lastUpdatedAt } = (await handle(id).describe()).info;
    await compareSchedules(silent(), later);
    await schedulesSynced();
    expect((await handle(id).describe()).info.lastUpdatedAt).toEqual(lastUpdatedAt);
  });

  it('leaves one run when it was unavailable over several dates', async () => {
    const { id } = await world.create(recurring('0 * * * *'));
    await schedulesSynced();
    const dates = utcDates('0 * * * *', new Date(), 40);
    const now = new Date(dates.at(-1)!.getTime() + 5 * 60_000);
    await startMissedRuns(silent(), now);
    await startMissedRuns(silent(), now);
    expect((await world.runs(id)).map(({ nominal_time }) => nominal_time)).toEqual([dates.at(-1)]);
    const kind = runtime.kinds.get('script')!;
    for (const date of dates.slice(0, 3))
      expect(await kind.startRun(id, date, now)).toMatchObject({ outcome: 'superseded' });
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('skips its dates for good while an operator has it paused', async () => {
    const { id, state } = await world.create(recurring('0 * * * *', inSeconds(3600)));
    await until(() => exists(id));
    await handle(id).pause('for maintenance');
    const later = new Date(state.nextRun!.getTime() + 5 * 60_000);
    await startMissedRuns(silent(), later);
    expect((await read(id)).nextRun).toEqual(new Date(state.nextRun!.getTime() + HOUR));
    await schedulesSynced();
    expect((await handle(id).describe()).state).toMatchObject({ paused: true, note: 'for maintenance' });
    await handle(id).unpause();
    await startMissedRuns(silent(), later);
    expect(await world.runs(id)).toEqual([]);
  });

  it('skips the one date of a profile while an operator has it paused', async () => {
    const at = inSeconds(3600);
    const { id } = await world.create(once(at));
    await until(() => exists(id));
    await handle(id).pause('for maintenance');
    await startMissedRuns(silent(), new Date(at.getTime() + 120_000));
    expect(await read(id)).toEqual({ isFinished: false, lastRun: null, nextRun: null });
    await until(async () => !(await exists(id)));
    expect(await world.runs(id)).toEqual([]);
  });

  it('starts a time that passed before the schedule was written', async () => {
    const at = inSeconds(1);
    const { id } = await world.create(once(at));
    await until(async () => (await world.runs(id)).length === 1, 10_000);
    expect((await world.runs(id))[0]!.nominal_time).toEqual(at);
  });
});
