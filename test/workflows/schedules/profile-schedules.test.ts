import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { startMissedRuns } from '../../../src/services/schedules/missed-runs.ts';
import type { ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import { ensureSchedule } from '../../../temporal/schedules/profile-schedules.ts';
import { createProfileSchedules } from '../../../workers/reconciler/ports.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { createUsgWorld, type UsgWorld } from '../../support/compliance/usg.ts';
import { naiveClock } from '../../support/schedules/naive-dates.ts';
import { inSeconds, schedulesOf, until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let world: UsgWorld;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  runtime.startDispatcher();
  await runtime.startScheduleWorker();
  world = await createUsgWorld(runtime.db, systemClock);
});

afterAll(async () => {
  await runtime?.close();
});

const { handle, exists, schedulesSynced } = schedulesOf(() => runtime, 'usg');
const repair = async (now: Date, kinds = runtime.kinds): Promise<string[]> => {
  const missed: string[] = [];
  const schedules = createProfileSchedules(runtime.client);
  const deps = { ...runtime, schedules, kinds, logger: createLogger({ level: 'silent', role: 'test' }) };
  await startMissedRuns(deps, now, (kind) => missed.push(kind));
  return missed;
};

describe('the schedule of a profile', () => {
  it('holds the dates of the profile and a note that describes it', async () => {
    const start = inSeconds(3600);
    const id = await world.create({ startDate: start.toISOString() });
    await until(() => exists(id));
    const { spec, state, info, policies } = await handle(id).describe();
    expect(spec.calendars).toHaveLength(26);
    expect(state).toMatchObject({ paused: false, note: expect.stringContaining('FREQ=WEEKLY') });
    expect(policies).toMatchObject({ overlap: 'ALLOW_ALL', catchupWindow: 24 * 3600 * 1000 });
    const week = 7 * 86_400_000;
    const dates = info.nextActionTimes.map((date) => date.getTime());
    expect(dates.length).toBeGreaterThan(5);
    expect(dates).toEqual(dates.map((_, n) => start.getTime() + n * week));
    expect((await world.profiles.get(world.caller, id)).nextRunTime).toEqual(start);
  });

  it('holds the dates that clocks in the time zone of the profile show', async () => {
    const id = await world.create({
      startDate: '2026-11-01T00:00:00Z',
      schedule: 'FREQ=WEEKLY;INTERVAL=3;BYDAY=SU;BYHOUR=2;BYMINUTE=30',
      timezone: 'Europe/Berlin',
    });
    await until(() => exists(id));
    const { spec, state, info } = await handle(id).describe();
    expect(spec.calendars).toHaveLength(26);
    expect(state.note).toContain('BYMINUTE=30 in Europe/Berlin');
    const clock = naiveClock('Europe/Berlin');
    const dates = info.nextActionTimes.map((date) => new Date(clock.shown(date.getTime())));
    expect(dates.length).toBeGreaterThan(5);
    for (const [i, date] of dates.entries()) {
      expect(date.getUTCDay()).toBe(0);
      expect(['02:30', '03:30']).toContain(date.toISOString().slice(11, 16));
      const weeks = Math.round((date.getTime() - dates[0]!.getTime()) / (7 * 86_400_000));
      expect(weeks).toBe(3 * i);
    }
    expect((await world.profiles.get(world.caller, id)).nextRunTime).toEqual(info.nextActionTimes[0]);
    await world.profiles.archive(world.caller, id);
  });

  it('starts the run of its date once, and the activity like a request would', async () => {
    // Late enough for the schedule to be there before its date: a date that has passed is started without it.
    const start = inSeconds(10);
    const id = await world.create({ startDate: start.toISOString() });
    await until(async () => (await world.runs(id)).length > 0, 60_000);
    const [run] = await world.runs(id);
    expect(run!.nominal_time).toEqual(start);
    const workflowId = `usg-run/${id}-${start.toISOString().slice(0, 19)}Z`;
    const result = await runtime.client.workflow.getHandle(workflowId).result();
    expect(result).toEqual({ scheduledTime: start.toISOString(), outcome: 'started', activity: run!.activity_id });
    const [group] = await runtime.db.query('select type, children_count from activity where id = $1', [
      run!.activity_id,
    ]);
    expect(group).toEqual({ type: 'UsgActivity', children_count: 2 });
    expect(await world.kind.startRun(id, start, systemClock.now())).toMatchObject({ outcome: 'known' });
    await repair(new Date(Date.now() + 120_000));
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('follows the profile: another rule, no further date, an archived profile', async () => {
    const id = await world.create({ startDate: inSeconds(3600).toISOString() });
    await until(() => exists(id));
    await world.profiles.patch(world.caller, id, { schedule: 'FREQ=MONTHLY;BYMONTHDAY=1' });
    await until(async () => (await handle(id).describe()).state.note?.includes('MONTHLY') === true);
    const [, second] = (await handle(id).describe()).info.nextActionTimes;
    expect(second!.getUTCDate()).toBe(1);
    await runtime.db.query(`update usg_profile set planned_dates = '{}' where id = $1`, [id]);
    const now = systemClock.now();
    expect(
      await ensureSchedule(runtime.client, `usg/${id}`, await world.kind.desiredSchedule(runtime.db, id, now)),
    ).toBe('paused');
    await world.profiles.patch(world.caller, id, { schedule: 'FREQ=WEEKLY' });
    await until(async () => !(await handle(id).describe()).state.paused);
    await world.profiles.archive(world.caller, id);
    await until(async () => !(await exists(id)));
    expect(await ensureSchedule(runtime.client, `usg/${id}`, null)).toBe('none');
  });

  it('is created again when it was lost, and does not exist without dates', async () => {
    const id = await world.create({ startDate: inSeconds(3600).toISOString() });
    await until(() => exists(id));
    await schedulesSynced();
    await handle(id).delete();
    const desired = () => world.kind.desiredSchedule(runtime.db, id, systemClock.now());
    expect(await ensureSchedule(runtime.client, `usg/${id}`, await desired())).toBe('created');
    expect(await ensureSchedule(runtime.client, `usg/${id}`, await desired())).toBe('updated');
    const past = await world.create({ startDate: inSeconds(-60).toISOString(), schedule: 'FREQ=WEEKLY;COUNT=1' });
    await schedulesSynced();
    expect(await exists(past)).toBe(false);
  });

  it('stays paused when an operator paused it, and its dates pass for good', async () => {
    const start = inSeconds(3600);
    const id = await world.create({ startDate: start.toISOString() });
    await until(() => exists(id));
    await handle(id).pause('for maintenance');
    await world.profiles.patch(world.caller, id, { title: 'Renamed' });
    await schedulesSynced();
    expect((await handle(id).describe()).state).toMatchObject({ paused: true, note: 'for maintenance' });
    const later = new Date(start.getTime() + 120_000);
    await repair(later);
    await repair(later);
    const events = await runtime.db.query(
      `select message from event where entity_type = 'UsgProfile' and entity_id = $1 and message like 'Left out %'`,
      [id],
    );
    expect(events).toEqual([{ message: expect.stringContaining(start.toISOString()) }]);
    await handle(id).unpause();
    await repair(later);
    expect(await world.runs(id)).toEqual([]);
    const next = new Date(start.getTime() + 7 * 86_400_000);
    expect((await world.profiles.get(world.caller, id)).nextRunTime).toEqual(next);
  });

  it('skips dates while an operator has it paused, whatever is changed meanwhile', async () => {
    const id = await world.create({ startDate: inSeconds(3600).toISOString() });
    await until(() => exists(id));
    await handle(id).pause('for maintenance');
    await runtime.db.query(
      'update usg_profile set planned_dates = array[$2::timestamptz] || planned_dates where id = $1',
      [id, inSeconds(-30)],
    );
    // The round of the second change starts when that of the first is over.
    for (const title of ['Renamed', 'Renamed again']) {
      await world.profiles.patch(world.caller, id, { title });
      await schedulesSynced();
    }
    expect(await world.runs(id)).toEqual([]);
  });

  it('runs once when an operator triggers it', async () => {
    const id = await world.create({ startDate: inSeconds(3600).toISOString() });
    await until(() => exists(id));
    // Just after an edit it would be taken for a date that was planned before.
    await runtime.db.query(
      `update usg_profile set modification_time = modification_time - interval '5 minutes' where id = $1`,
      [id],
    );
    await handle(id).trigger();
    await until(async () => (await world.runs(id)).length === 1);
  });

  it('leaves one run when it was unavailable over several dates', async () => {
    const start = inSeconds(7200);
    const id = await world.create({ startDate: start.toISOString() });
    await schedulesSynced();
    const week = 7 * 86_400_000;
    const now = new Date(start.getTime() + 3 * week + 3600_000);
    await repair(now);
    await repair(now);
    const last = new Date(start.getTime() + 3 * week);
    expect((await world.runs(id)).map(({ nominal_time }) => nominal_time)).toEqual([last]);
    for (const earlier of [0, 1, 2]) {
      const nominal = new Date(start.getTime() + earlier * week);
      expect(await world.kind.startRun(id, nominal, now)).toMatchObject({ outcome: 'superseded' });
    }
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('is missed once, also when what comes after the run fails', async () => {
    const start = inSeconds(7200);
    const id = await world.create({ startDate: start.toISOString() });
    await schedulesSynced();
    const now = new Date(start.getTime() + 120_000);
    const kind: ProfileKind = {
      ...world.kind,
      datesDueBefore: (dueBefore) => world.kind.datesDueBefore(dueBefore, { profileId: id }),
    };
    const extendSchedule: ProfileKind['extendSchedule'] = () => Promise.reject(new Error('out of order'));
    expect(await repair(now, new Map([['usg', { ...kind, extendSchedule }]]))).toEqual(['usg']);
    expect(await world.runs(id)).toHaveLength(1);
    expect(await repair(now, new Map([['usg', kind]]))).toEqual([]);
  });

  it('starts the run of a profile while another profile fails', async () => {
    const start = inSeconds(7200);
    const broken = await world.create({ startDate: start.toISOString() });
    const sound = await world.create({ startDate: start.toISOString() });
    await schedulesSynced();
    const startRun: ProfileKind['startRun'] = async (id, scheduledTime, now) => {
      if (id === broken) throw new Error('out of order');
      return await world.kind.startRun(id, scheduledTime, now);
    };
    await repair(new Date(start.getTime() + 120_000), new Map([['usg', { ...world.kind, startRun }]]));
    expect(await world.runs(broken)).toEqual([]);
    expect(await world.runs(sound)).toHaveLength(1);
  });

  it('starts a date that passed before the schedule was written', async () => {
    const start = inSeconds(1);
    const id = await world.create({ startDate: start.toISOString() });
    await until(async () => (await world.runs(id)).length === 1, 10_000);
    expect((await world.runs(id))[0]!.nominal_time).toEqual(start);
  });
});
