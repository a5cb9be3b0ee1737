import { describe, expect, it } from 'vitest';
import { isProblem, parseRule, type RecurrenceRule } from '../../../../src/domain/schedules/recurrence-rule.ts';
import { datesOf } from '../../../../src/domain/schedules/rule-dates.ts';
import { daysOfYear } from '../../../../src/services/schedules/year-days.ts';
import fc from '../../../support/common/random.ts';
import { naiveClock, naiveOccurrences } from '../../../support/schedules/naive-dates.ts';
import { RFC_EXAMPLES, RULES, STARTS } from './rules.ts';

const DAY_MS = 86_400_000;
/** One for every run, or the one of a run to be repeated. */

function readRule(text: string): RecurrenceRule {
  const rule = parseRule(text);
  if (isProblem(rule)) throw new Error(`${text}: ${rule.message}`);
  return rule;
}

/** The dates of a rule from its start on, the start included. */
function datesFrom(text: string, start: number, end: number, most: number, timezone = 'UTC'): number[] {
  const rule = readRule(text);
  const wall = timezone === 'UTC' ? start : naiveClock(timezone).shown(start);
  const daysOf = daysOfYear(rule, wall);
  const schedule = { rule, start: new Date(start), timezone, daysOf, isStartPlanned: false };
  const dates: number[] = [];
  for (const date of datesOf(schedule, new Date(start - 1))) {
    if (date.getTime() >= end || dates.length === most) break;
    dates.push(date.getTime());
  }
  return dates;
}

const texts = (dates: readonly number[]) => dates.map((date) => new Date(date).toISOString().replace(':00.000Z', ''));

describe('dates of a rule', () => {
  it.each(RFC_EXAMPLES)('are those that RFC 5545 gives for %s from %s', (text, start, expected) => {
    const from = Date.parse(`${start}:00Z`);
    const end = Date.UTC(2010, 0, 1);
    expect(texts(datesFrom(text, from, end, expected.length))).toEqual(expected);
    expect(texts(naiveOccurrences(text, from, end, expected.length))).toEqual(expected);
  });

  it('are those of an expansion that looks at every day, for thousands of random rules', () => {
    const most = 150;
    /** Of frequent rules a shorter time is enough, and all that there is time for. */
    const lengths: Record<string, number> = { HOURLY: 300, MINUTELY: 15, SECONDLY: 0.3 };
    let withDates = 0;
    fc.assert(
      fc.property(RULES, STARTS, (text, start) => {
        const { frequency, interval } = readRule(text);
        const days = interval > 50_000 ? 800 : (lengths[frequency] ?? 800);
        const end = start + days * DAY_MS;
        const expected = naiveOccurrences(text, start, end, most);
        expect(texts(datesFrom(text, start, end, most)), `${text} from ${texts([start])}`).toEqual(texts(expected));
        withDates += expected.length > 1 ? 1 : 0;
      }),
      { numRuns: 3000 },
    );
    expect(withDates).toBeGreaterThan(1500);
  }, 120_000);

  it.each([
    [
      'BYSETPOS beyond the set of a period chooses nothing there',
      'FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-5',
      '2026-11-02T03:00',
      ['2026-11-02T03:00', '2027-03-01T03:00', '2027-05-03T03:00', '2027-08-02T03:00'],
    ],
    [
      'BYSETPOS chooses from the whole first week',
      'FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1',
      '2026-11-25T03:00',
      ['2026-11-25T03:00', '2026-11-30T03:00', '2026-12-07T03:00', '2026-12-14T03:00'],
    ],
    [
      'BYSETPOS chooses from the times of the whole first day',
      'FREQ=DAILY;BYHOUR=1,5,9;BYSETPOS=2',
      '2026-11-25T04:00',
      ['2026-11-25T04:00', '2026-11-25T05:00', '2026-11-26T05:00', '2026-11-27T05:00'],
    ],
    [
      'UNTIL as a date includes that day',
      'FREQ=WEEKLY;UNTIL=20261209',
      '2026-11-25T03:00',
      ['2026-11-25T03:00', '2026-12-02T03:00', '2026-12-09T03:00'],
    ],
    [
      'hours may be many',
      'FREQ=HOURLY;INTERVAL=200',
      '2026-11-25T03:00',
      ['2026-11-25T03:00', '2026-12-03T11:00', '2026-12-11T19:00', '2026-12-20T03:00'],
    ],
    [
      'minutes may be of one weekday',
      'FREQ=MINUTELY;BYDAY=SU;BYHOUR=4;BYMINUTE=30',
      '2026-11-29T04:30',
      ['2026-11-29T04:30', '2026-12-06T04:30', '2026-12-13T04:30', '2026-12-20T04:30'],
    ],
    [
      'a week number alone means the weekday of the start',
      'FREQ=YEARLY;BYWEEKNO=53',
      '2026-12-31T03:00',
      ['2026-12-31T03:00', '2032-12-30T03:00', '2037-12-31T03:00', '2043-12-31T03:00'],
    ],
    [
      'weekdays with and without a number add to each other',
      'FREQ=MONTHLY;BYDAY=1MO,FR',
      '2026-12-04T03:00',
      ['2026-12-04T03:00', '2026-12-07T03:00', '2026-12-11T03:00', '2026-12-18T03:00'],
    ],
  ])('%s', (_, text, start, expected) => {
    const from = Date.parse(`${start}:00Z`);
    expect(texts(datesFrom(text, from, Date.UTC(2090, 0, 1), 4))).toEqual(expected);
    expect(texts(naiveOccurrences(text, from, Date.UTC(2090, 0, 1), 4))).toEqual(expected);
  });

  it.each([
    // Sunday, and Monday there.
    ['FREQ=WEEKLY;BYDAY=MO;BYHOUR=0', 'Asia/Tokyo', '2026-11-29T15:00', ['2026-11-29T15:00', '2026-12-06T15:00']],
    ['FREQ=WEEKLY', 'America/Los_Angeles', '2026-10-27T09:00', ['2026-10-27T09:00', '2026-11-03T10:00']],
    // 02:30 is 03:30 on 28 March, for clocks are set forward at 02:00.
    ['FREQ=WEEKLY', 'Europe/Berlin', '2027-03-21T01:30', ['2027-03-21T01:30', '2027-03-28T01:30', '2027-04-04T00:30']],
    // 02:30 comes twice on 25 October.
    ['FREQ=WEEKLY', 'Europe/Berlin', '2026-10-18T00:30', ['2026-10-18T00:30', '2026-10-25T00:30', '2026-11-01T01:30']],
    // Half an hour is skipped on 4 October.
    ['FREQ=WEEKLY', 'Australia/Lord_Howe', '2026-09-26T15:45', ['2026-09-26T15:45', '2026-10-03T15:45']],
    // The day of the end is the one there: 10 December starts at 08:00 UTC.
    [
      'FREQ=DAILY;INTERVAL=7;UNTIL=20261209',
      'America/Los_Angeles',
      '2026-12-03T05:00',
      ['2026-12-03T05:00', '2026-12-10T05:00'],
    ],
    [
      'FREQ=WEEKLY;UNTIL=20261209T210000',
      'America/Los_Angeles',
      '2026-12-03T05:00',
      ['2026-12-03T05:00', '2026-12-10T05:00'],
    ],
    ['FREQ=WEEKLY;UNTIL=20261209T210000Z', 'America/Los_Angeles', '2026-12-03T05:00', ['2026-12-03T05:00']],
    [
      'FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=1',
      'Pacific/Kiritimati',
      '2026-11-30T11:00',
      ['2026-11-30T11:00', '2026-12-31T11:00'],
    ],
  ])('of %s in %s are those that its clocks show', (text, timezone, start, expected) => {
    const from = Date.parse(`${start}:00Z`);
    const dates = datesFrom(text, from, Date.UTC(2028, 0, 1), expected.length + 1, timezone);
    expect(texts(dates).slice(0, expected.length)).toEqual(expected);
    if (text.includes('UNTIL')) expect(dates).toHaveLength(expected.length);
  });

  it('keep their time of day in every time zone, and move by RFC 5545 where clocks skip it or show it twice', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const rules = fc
      .tuple(
        fc.constantFrom('MONTHLY;BYDAY=-1', 'MONTHLY;BYDAY=1', 'MONTHLY;BYDAY=2', 'WEEKLY;BYDAY='),
        fc.constantFrom('SU', 'SU', 'SU', 'FR', 'SA', 'TH'),
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom(0, 15, 30, 59),
      )
      .map(([by, day, hour, minute]) => `FREQ=${by}${day};BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=0`);
    fc.assert(
      fc.property(rules, fc.constantFrom(...zones), STARTS, (text, zone, wall) => {
        const clock = naiveClock(zone);
        const start = clock.instant(wall);
        const end = start + 800 * DAY_MS;
        const shown = naiveOccurrences(text, clock.shown(start), end - 2 * DAY_MS, 40);
        const expected = [start, ...shown.slice(1).map((time) => clock.instant(time))];
        const dates = datesFrom(text, start, end, expected.length, zone);
        expect(texts(dates), `${text} in ${zone} from ${texts([start])}`).toEqual(texts(expected));
      }),
      { numRuns: 250 },
    );
  }, 120_000);
});
