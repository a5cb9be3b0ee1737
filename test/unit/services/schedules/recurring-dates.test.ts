import { describe, expect, it } from 'vitest';
import { planDates, planRequested } from '../../../../src/services/schedules/recurring-dates.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-01-01T00:00:00Z');
const [THURSDAY, MONDAY] = [new Date('2026-01-08T03:00:00Z'), new Date('2026-01-12T03:00:00Z')];
const later = (date: Date, days: number) => new Date(date.getTime() + days * DAY_MS);

interface Given {
  schedule: string;
  start: Date;
  timezone?: string;
  /** When the profile was made. */
  made?: Date;
}

const profile = ({ schedule, start, timezone = 'UTC', made = NOW }: Given) => {
  return { schedule, timezone, startDate: start, creationTime: made };
};
const created = (given: Given, now = given.made ?? NOW) => planRequested(profile(given), now, { change: false });
const changed = (given: Given, now: Date) => planRequested(profile(given), now, { change: true });
const rejection = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
};

describe('the dates of a profile', () => {
  it('are planned from one moment on as they are from any earlier one', () => {
    for (const schedule of [
      'FREQ=WEEKLY;INTERVAL=3',
      'FREQ=MONTHLY;BYDAY=2TU',
      'FREQ=WEEKLY;COUNT=30',
      'FREQ=YEARLY',
    ]) {
      for (const timezone of ['UTC', 'America/Santiago']) {
        const given = profile({ schedule, timezone, start: MONDAY });
        const all = planDates(given, later(MONDAY, -1));
        expect(all[0]).toEqual(MONDAY);
        for (const at of all.slice(0, 12)) {
          expect(planDates(given, at).slice(0, 10)).toEqual(all.filter((date) => date > at).slice(0, 10));
        }
      }
    }
  });

  it('count the start among COUNT, whether it is on the rule or not', () => {
    const weekly = (count: number) => `FREQ=WEEKLY;BYDAY=MO;COUNT=${count}`;
    expect(created({ schedule: weekly(1), start: THURSDAY })).toEqual([THURSDAY]);
    expect(created({ schedule: weekly(2), start: MONDAY })).toEqual([MONDAY, later(MONDAY, 7)]);
    expect(created({ schedule: weekly(3), start: THURSDAY, made: MONDAY })).toEqual([later(MONDAY, 7)]);
    expect(created({ schedule: 'FREQ=MONTHLY;BYMONTHDAY=1;COUNT=1', start: THURSDAY })).toEqual([THURSDAY]);
  });

  it('are never closer than seven days, also after a start that is not on the rule', () => {
    const weekly = { schedule: 'FREQ=WEEKLY;BYDAY=MO', start: THURSDAY };
    const all = created(weekly);
    expect(all.slice(0, 3)).toEqual([THURSDAY, later(MONDAY, 7), later(MONDAY, 14)]);
    // The Monday after the start stays left out when it has run.
    expect(changed(weekly, later(THURSDAY, 1))[0]).toEqual(all[1]);
    expect(planDates(profile(weekly), later(THURSDAY, 1))[0]).toEqual(all[1]);
    // It does not count for COUNT either.
    expect(created({ schedule: 'FREQ=WEEKLY;BYDAY=MO;COUNT=3', start: THURSDAY })).toEqual(all.slice(0, 3));
    // A start that is past at the creation runs at once and is no date ahead.
    expect(created({ ...weekly, made: later(THURSDAY, 1) })[0]).toEqual(MONDAY);
    for (const schedule of [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR',
      'FREQ=MONTHLY;BYMONTHDAY=10',
      'FREQ=YEARLY;BYYEARDAY=9',
    ]) {
      const dates = created({ schedule, start: THURSDAY });
      expect(dates[0]).toEqual(THURSDAY);
      for (const [i, date] of dates.slice(1).entries()) {
        expect(date.getTime() - dates[i]!.getTime(), schedule).toBeGreaterThanOrEqual(7 * DAY_MS);
      }
    }
  });

  it('are seven days apart by the clocks of their zone', () => {
    const given = { schedule: 'FREQ=WEEKLY', start: new Date('2026-03-23T02:00:00Z'), timezone: 'Europe/Berlin' };
    const [first, second] = created(given);
    expect(second!.getTime() - first!.getTime()).toBe(7 * DAY_MS - 3_600_000);
  });

  it.each([
    ['UNTIL', 'FREQ=WEEKLY;UNTIL=20251231'],
    ['UNTIL a moment ago', 'FREQ=WEEKLY;UNTIL=20251231T235959Z'],
    ['UNTIL, though that is ahead', 'FREQ=YEARLY;UNTIL=20260401'],
    ['COUNT', 'FREQ=WEEKLY;COUNT=3'],
  ])('are none of a rule used up by %s, which is rejected of a new profile and of a changed one', (_, schedule) => {
    const given = { schedule, start: new Date('2024-06-03T03:00:00Z') };
    const rejected = expect.stringMatching(
      /^InvalidParameter: body.schedule (has no future date|must not end in the past)/,
    );
    expect(rejection(() => created(given))).toEqual(rejected);
    expect(rejection(() => changed(given, NOW))).toEqual(rejected);
  });

  it('may be a start alone that runs at once, but none ahead of a profile that is there', () => {
    for (const schedule of ['FREQ=WEEKLY;COUNT=1', 'FREQ=WEEKLY;UNTIL=20260102', 'FREQ=YEARLY;INTERVAL=100']) {
      const given = { schedule, start: later(NOW, -1) };
      expect(created(given)).toEqual([]);
      expect(rejection(() => changed(given, NOW))).toBe('InvalidParameter: body.schedule has no future date');
    }
  });

  it('include those of the day that UNTIL names, as clocks show it', () => {
    const given = { schedule: 'FREQ=WEEKLY;UNTIL=20260119', start: MONDAY };
    expect(created(given)).toEqual([MONDAY, later(MONDAY, 7)]);
    expect(created({ ...given, timezone: 'Pacific/Kiritimati' })).toEqual([MONDAY, later(MONDAY, 7)]);
    const west = { schedule: 'FREQ=WEEKLY;UNTIL=20251231', start: new Date('2025-12-25T09:30:00Z') };
    // There it is still 31 December.
    expect(created({ ...west, timezone: 'Pacific/Honolulu' }, new Date('2026-01-01T09:00:00Z'))).toEqual([
      new Date('2026-01-01T09:30:00Z'),
    ]);
    expect(rejection(() => created({ ...west, timezone: 'Pacific/Honolulu' }, new Date('2026-01-01T10:00:00Z')))).toBe(
      'InvalidParameter: body.schedule must not end in the past',
    );
  });

  it('are rejected that come closer than a week only in years far from the start', () => {
    const far = { schedule: 'FREQ=YEARLY;BYYEARDAY=60,-306', start: new Date('1897-03-01T00:00:00Z') };
    expect(rejection(() => created(far))).toBe('IntervalTooShort: body.schedule must not be more frequent than weekly');
    const late = { schedule: 'FREQ=MONTHLY;BYMONTHDAY=1,8,15,23', start: new Date('2099-03-01T00:00:00Z') };
    expect(rejection(() => created(late))).toBe(
      'IntervalTooShort: body.schedule must not be more frequent than weekly',
    );
  });
});
