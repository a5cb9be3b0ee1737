import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLANNED_DATES, REFILL_BELOW } from '../../../src/domain/schedules/plan.ts';
import { createUsgWorld, type UsgWorld } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { naiveClock, naiveOccurrences } from '../../support/schedules/naive-dates.ts';

const DAY_MS = 86_400_000;
const START = new Date(Date.UTC(2026, 10, 24, 2, 30));

let database: TestDatabase;
let world: UsgWorld;
let now = new Date(Date.UTC(2026, 10, 21, 12));

beforeAll(async () => {
  database = await createTestDatabase();
  world = await createUsgWorld(database.persistence.db, { now: () => now }, 1);
});
afterAll(() => database?.drop());

/** The dates that the schedule on the server would hold now. */
async function ahead(id: number): Promise<Date[]> {
  const desired = await world.kind.desiredSchedule(database.persistence.db, id, now);
  if (desired?.times.kind !== 'dates') throw new Error('dates are expected');
  return [...desired.times.dates];
}

/** What the trigger workflow does on a date, some seconds late, and the end of the run. */
async function fire(id: number, date: Date): Promise<string> {
  now = new Date(date.getTime() + 3_000);
  const { outcome } = await world.kind.startRun(id, date, now);
  await world.kind.extendSchedule(id, now);
  await database.persistence.db.query('update activity set open_count = 0 where account_id = $1', [
    world.caller.accountId,
  ]);
  return outcome;
}

describe('a year of a schedule', () => {
  it.each([
    ['FREQ=WEEKLY', 'UTC'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=FR', 'UTC'],
    ['FREQ=MONTHLY;BYDAY=-1SU', 'UTC'],
    ['FREQ=WEEKLY;COUNT=40', 'UTC'],
    ['FREQ=WEEKLY;BYDAY=TU;BYHOUR=21', 'America/New_York'],
    ['FREQ=MONTHLY;BYDAY=-1SU;BYHOUR=2;BYMINUTE=30', 'Europe/Berlin'],
  ])('%s in %s is walked date by date through trigger and refill', async (schedule, timezone) => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    const id = await world.create({ schedule, timezone, startDate: START.toISOString() });
    const end = new Date(START.getTime() + 366 * DAY_MS);
    const clock = naiveClock(timezone);
    const start = clock.shown(START.getTime());
    // Dates less than a week after the start are left out.
    const shown = naiveOccurrences(schedule, start, end.getTime())
      .slice(1)
      .filter((date) => date >= start + 7 * DAY_MS);
    const expected = [START.getTime(), ...shown.map(clock.instant).filter((date) => date < end.getTime())];
    const isEndless = !schedule.includes('COUNT');
    const fired: number[] = [];
    for (;;) {
      const dates = await ahead(id);
      expect(dates.length).toBeLessThanOrEqual(PLANNED_DATES);
      const { nextRunTime } = await world.profiles.get(world.caller, id);
      expect(nextRunTime).toEqual(dates[0] ?? null);
      if (!nextRunTime || nextRunTime >= end) break;
      expect(await fire(id, nextRunTime)).toBe('started');
      fired.push(nextRunTime.getTime());
      expect(await world.kind.startRun(id, nextRunTime, now)).toMatchObject({ outcome: 'known' });
      if (isEndless) expect((await ahead(id)).length).toBeGreaterThanOrEqual(REFILL_BELOW);
    }
    expect(fired).toEqual(expected);
    expect((await world.runs(id)).map(({ nominal_time }) => nominal_time!.getTime())).toEqual(expected);
  });

  it('shows operators its time zone, and in UTC the note that it always had', async () => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    for (const [timezone, prefix] of [
      ['UTC', 'USG audit by FREQ=WEEKLY; further dates'],
      ['Asia/Tokyo', 'USG audit by FREQ=WEEKLY in Asia/Tokyo; further dates'],
    ] as const) {
      const id = await world.create({ timezone, startDate: START.toISOString() });
      const { note } = (await world.kind.desiredSchedule(database.persistence.db, id, now))!;
      expect(note.startsWith(prefix), note).toBe(true);
      const later = new Date(now.getTime() + 3_600_000);
      expect(note.startsWith((await world.kind.expectedSchedules(later)).get(`usg/${id}`)!)).toBe(true);
    }
  });

  it('skips a date while every computer still has an open run, and records it', async () => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    const id = await world.create({ startDate: START.toISOString() });
    const [first, second, third] = (await ahead(id)) as [Date, Date, Date];
    now = first;
    expect(await world.kind.startRun(id, first, now)).toMatchObject({ outcome: 'started' });
    now = second;
    expect(await world.kind.startRun(id, second, now)).toMatchObject({ outcome: 'busy' });
    expect(await world.kind.startRun(id, second, now)).toMatchObject({ outcome: 'known' });
    const [event] = await database.persistence.db.query(
      `select message, person_id from event where entity_type = 'UsgProfile' and entity_id = $1 order by id desc limit 1`,
      [id],
    );
    expect(event).toMatchObject({ person_id: null, message: expect.stringContaining('Skipped') });
    expect(await world.kind.datesDueBefore(now, { profileId: id })).toEqual([]);
    expect(await fire(id, third)).toBe('busy');
    const runs = await world.runs(id);
    expect(runs.map(({ activity_id }) => activity_id !== null)).toEqual([true, false, false]);
  });

  it('runs no date that the profile does not plan any more', async () => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    const id = await world.create({ startDate: '2026-11-01T02:30:00Z', schedule: 'FREQ=WEEKLY' });
    await database.persistence.db.query('update activity set open_count = 0');
    const [next] = (await ahead(id)) as [Date];
    await world.profiles.patch(world.caller, id, { schedule: 'FREQ=MONTHLY;BYMONTHDAY=15' });
    now = new Date(next.getTime() + DAY_MS / 2);
    expect(await world.kind.startRun(id, next, now)).toMatchObject({ outcome: 'not-planned' });
    await world.profiles.archive(world.caller, id);
    const [of15] = [new Date(Date.UTC(2026, 11, 15, 2, 30))];
    expect(await world.kind.startRun(id, of15, of15)).toMatchObject({ outcome: 'archived' });
    expect(await world.kind.desiredSchedule(database.persistence.db, id, now)).toBeNull();
    expect(await world.kind.datesDueBefore(new Date(Date.UTC(2030, 0, 1)), { profileId: id })).toEqual([]);
    expect(await world.runs(id)).toHaveLength(1);
  });

  it('takes a date that was just changed away for no wish of an operator', async () => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    const id = await world.create({ startDate: '2026-11-01T02:30:00Z', schedule: 'FREQ=WEEKLY' });
    await database.persistence.db.query('update activity set open_count = 0');
    const [next] = (await ahead(id)) as [Date];
    now = new Date(next.getTime() - 10_000);
    await world.profiles.patch(world.caller, id, { schedule: 'FREQ=MONTHLY;BYMONTHDAY=15' });
    expect(await fire(id, next)).toBe('not-planned');
    const later = (minutes: number) => new Date(next.getTime() + minutes * 60_000);
    expect(await fire(id, later(3))).toBe('not-planned');
    expect(await world.runs(id)).toHaveLength(1);
    // Some minutes after the change it is one, if the schedule has been changed.
    await database.persistence.db.query(`delete from outbox where key = 'usg/' || $1::int`, [id]);
    expect(await fire(id, later(4))).toBe('started');
  });

  it('makes no run of a date that lies ahead, and keeps it for its time', async () => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    const id = await world.create({ startDate: START.toISOString() });
    const [first, second] = (await ahead(id)) as [Date, Date];
    expect(await world.kind.startRun(id, second, now)).toMatchObject({ outcome: 'not-planned' });
    expect(await world.kind.startRun(id, first, new Date(first.getTime() - 61_000))).toMatchObject({
      outcome: 'not-planned',
    });
    now = first;
    // The clock of the server may be somewhat ahead.
    expect(await world.kind.startRun(id, first, new Date(first.getTime() - 30_000))).toMatchObject({
      outcome: 'started',
    });
    expect(await world.kind.startRun(id, second, now)).toMatchObject({ outcome: 'not-planned' });
    expect(await world.runs(id)).toHaveLength(1);
    expect((await world.profiles.get(world.caller, id)).nextRunTime).toEqual(second);
    await database.persistence.db.query('update activity set open_count = 0');
    expect(await fire(id, second)).toBe('started');
  });

  it('makes one run for one date, however many requests come at once', async () => {
    now = new Date(Date.UTC(2026, 10, 21, 12));
    const id = await world.create({ startDate: START.toISOString() });
    now = START;
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => world.kind.startRun(id, START, now)));
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'known'),
      'started',
    ]);
    expect(await world.runs(id)).toHaveLength(1);
  });
});
