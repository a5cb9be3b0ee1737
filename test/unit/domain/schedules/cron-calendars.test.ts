import { describe, expect, it } from 'vitest';
import { lastCalendarDate, nextCalendarDate } from '../../../../src/domain/schedules/calendar-dates.ts';
import { cronCalendars, isCronProblem, parseCron } from '../../../../src/domain/schedules/cron.ts';
import { nextZonedDates } from '../../../../src/domain/schedules/zoned-dates.ts';
import { nextCronDate } from '../../../../src/services/schedules/cron-dates.ts';
import fc from '../../../support/common/random.ts';
import { naiveCron } from '../../../support/schedules/naive-dates.ts';

const MINUTE = 60_000;
const FROM = new Date('2026-11-21T12:00:00Z');
const TWO_YEARS = 2 * 366 * 1440;

const calendarsOf = (text: string) => {
  const cron = parseCron(text);
  return isCronProblem(cron) ? null : cronCalendars(cron);
};

describe('calendars of cron text', () => {
  it('are due strictly after a moment, up to and including another', () => {
    const calendars = calendarsOf('0 12 * * *')!;
    expect(nextCalendarDate(calendars, new Date(FROM.getTime() - 1))).toEqual(FROM);
    expect(nextCalendarDate(calendars, FROM)).toEqual(new Date('2026-11-22T12:00:00Z'));
    expect(lastCalendarDate(calendars, new Date(0), FROM)).toEqual(FROM);
    expect(lastCalendarDate(calendars, FROM, new Date(FROM.getTime() + 1439 * MINUTE))).toBeNull();
  });

  it('mean the same as a look at every minute of two years, and as the dates that are read and stored', () => {
    fc.assert(
      fc.property(cronText, (text) => {
        const isDue = naiveCron(text);
        const expected: number[] = [];
        for (let minute = 1; minute <= TWO_YEARS && expected.length < 300; minute += 1) {
          const date = new Date(FROM.getTime() + minute * MINUTE);
          if (isDue(date)) expected.push(date.getTime());
        }
        const calendars = calendarsOf(text);
        if (calendars === null) return expect(expected).toEqual([]);
        const found: number[] = [];
        const end = FROM.getTime() + TWO_YEARS * MINUTE;
        let next = nextCalendarDate(calendars, FROM);
        while (next !== null && next.getTime() <= end && found.length < 300) {
          found.push(next.getTime());
          const before = lastCalendarDate(calendars, FROM, new Date(next.getTime() - 1));
          expect(before?.getTime()).toBe(found.at(-2));
          next = nextCalendarDate(calendars, next);
        }
        expect(found).toEqual(expected);
        const listed = nextZonedDates({ calendars, timezone: 'UTC' }, FROM, 20).map((date) => date.getTime());
        expect(listed.filter((date) => date <= end)).toEqual(expected.slice(0, listed.length).slice(0, 20));
        expect(nextCronDate({ interval: text, timezone: 'UTC' }, FROM)).toEqual(nextCalendarDate(calendars, FROM));
      }),
      { numRuns: 12 },
    );
  }, 600_000);
});

const value = (low: number, high: number) => fc.integer({ min: low, max: high });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: value(1, 40).map((n) => `/${n}`) },
);
const item = (low: number, high: number) =>
  fc.oneof(
    fc.tuple(fc.constant('*'), step).map((parts) => parts.join('')),
    value(low, high).map(String),
    fc.tuple(value(low, high), value(low, high), step).map(([a, b, by]) => `${Math.min(a, b)}-${Math.max(a, b)}${by}`),
  );
const field = (low: number, high: number) =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: fc.array(item(low, high), { minLength: 1, maxLength: 3 }).map((items) => items.join(',')) },
  );
const cronText = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(' '));
