import { describe, expect, it } from 'vitest';
import { changeBefore, instantOf, isTimeZone, isUtc, wallClockAt } from '../../../../src/domain/common/time-zone.ts';
import { earliestAfter, lastZonedDate, nextZonedDates } from '../../../../src/domain/schedules/zoned-dates.ts';
import { zonedCalendars } from '../../../../src/services/schedules/cron-dates.ts';
import { naiveClock, naiveCron } from '../../../support/schedules/naive-dates.ts';
import fc from '../../../support/common/random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Zones, and days on which their clocks are set. */
const CHANGES: ReadonlyArray<[zone: string, day: string]> = [
  ['Europe/Berlin', '2027-03-28'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2027-03-14'],
  ['America/New_York', '2026-11-01'],
  // Half an hour.
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Australia/Lord_Howe', '2027-04-04'],
  // Two hours.
  ['Antarctica/Troll', '2027-03-28'],
  ['Antarctica/Troll', '2026-10-25'],
  // At midnight, which does not come, or comes twice.
  ['America/Santiago', '2026-09-06'],
  ['America/Santiago', '2027-04-04'],
  ['Atlantic/Azores', '2027-03-28'],
  ['Atlantic/Azores', '2026-10-25'],
  // A whole day is skipped.
  ['Pacific/Apia', '2011-12-30'],
  ['Asia/Kathmandu', '2026-10-25'],
];
const texts = (dates: ReadonlyArray<Date | number>) => dates.map((date) => new Date(date).toISOString());

const list = (low: number, high: number) =>
  fc
    .uniqueArray(fc.integer({ min: low, max: high }), { minLength: 1, maxLength: 3 })
    .map((numbers) => numbers.join(','));
const cron = fc
  .tuple(
    fc.oneof(list(0, 59), fc.constantFrom('0', '30', '*/20')),
    fc.oneof(list(0, 4), list(0, 23), fc.constantFrom('*', '1-3')),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: list(1, 31) }),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: list(0, 6) }),
  )
  .map(([minute, hour, day, weekday]) => `${minute} ${hour} ${day} * ${weekday}`);

describe('dates of cron text in a time zone', () => {
  it('are those that its clocks show, each once, also around changes of clocks', () => {
    fc.assert(
      fc.property(cron, fc.constantFrom(...CHANGES), (interval, [timezone, day]) => {
        const zoned = zonedCalendars({ interval, timezone });
        const clock = naiveClock(timezone);
        const from = Date.parse(`${day}T00:00:00Z`) - 2 * DAY;
        const end = from + 5 * DAY;
        const isDue = naiveCron(interval);
        const instants = new Set<number>();
        for (let wall = from - 2 * DAY; wall < end + 2 * DAY; wall += MINUTE) {
          if (isDue(new Date(wall))) instants.add(clock.instant(wall));
        }
        const expected = [...instants].filter((date) => date > from && date <= end).sort((a, b) => a - b);
        const found = nextZonedDates(zoned, new Date(from), expected.length + 1);
        const where = `${interval} in ${timezone} about ${day}`;
        expect(texts(found.filter((date) => date.getTime() <= end)), where).toEqual(texts(expected));
        for (const [i, date] of expected.entries()) {
          const before = lastZonedDate(zoned, new Date(from), new Date(date - 1));
          expect(before?.getTime(), where).toBe(expected[i - 1]);
          expect(lastZonedDate(zoned, new Date(from), new Date(date))?.getTime(), where).toBe(date);
        }
        expect(lastZonedDate(zoned, new Date(from), new Date(end))?.getTime(), where).toBe(expected.at(-1));
      }),
      { numRuns: 120 },
    );
  }, 120_000);

  it.each([
    // 02:30 does not come: 03:30 does.
    ['30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00', ['2027-03-28T01:30', '2027-03-29T00:30']],
    // 02:30 comes twice.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00', ['2026-10-25T00:30', '2026-10-26T01:30']],
    // 02:00 becomes 03:00, which is one date.
    ['0 2,3 * * *', 'Europe/Berlin', '2027-03-27T12:00', ['2027-03-28T01:00', '2027-03-29T00:00', '2027-03-29T01:00']],
    ['0 * * * *', 'Europe/Berlin', '2026-10-24T23:30', ['2026-10-25T00:00', '2026-10-25T02:00']],
    // Sunday, and Monday there.
    ['0 0 * * mon', 'Asia/Tokyo', '2026-11-28T00:00', ['2026-11-29T15:00', '2026-12-06T15:00']],
    ['0 0 1 * *', 'America/Los_Angeles', '2026-10-15T00:00', ['2026-11-01T07:00', '2026-12-01T08:00']],
  ])('of %s in %s after %sZ', (interval, timezone, after, expected) => {
    const found = nextZonedDates(zonedCalendars({ interval, timezone }), new Date(`${after}:00Z`), expected.length);
    expect(texts(found)).toEqual(texts(expected.map((text) => Date.parse(`${text}:00Z`))));
  });

  it('may follow each other by what clocks show', () => {
    const following = (zone: string, run: string, ms: number) =>
      earliestAfter(zone, new Date(`${run}:00Z`), ms)
        .toISOString()
        .slice(0, 16);
    expect(following('UTC', '2027-03-28T01:30', DAY)).toBe('2027-03-29T01:30');
    // A day of 23 hours, after a run at its time and after one whose time was skipped.
    expect(following('Europe/Berlin', '2027-03-27T01:30', DAY)).toBe('2027-03-28T01:30');
    expect(following('Europe/Berlin', '2027-03-28T01:30', DAY)).toBe('2027-03-29T00:30');
    expect(following('Europe/Berlin', '2026-10-24T00:30', DAY)).toBe('2026-10-25T00:30');
    expect(following('Europe/Berlin', '2026-10-25T00:30', DAY)).toBe('2026-10-26T01:30');
  });
});

describe('clocks of a time zone', () => {
  it('show what they do everywhere, and times stand for the moments of RFC 5545', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const minutes = fc.integer({ min: Date.UTC(1975, 0, 1) / MINUTE, max: Date.UTC(2040, 0, 1) / MINUTE });
    fc.assert(
      fc.property(fc.constantFrom(...zones), minutes, (zone, minute) => {
        const clock = naiveClock(zone);
        expect(wallClockAt(zone, minute * MINUTE)).toBe(clock.shown(minute * MINUTE));
        expect(instantOf(zone, minute * MINUTE), `${zone} ${texts([minute * MINUTE])}`).toBe(
          clock.instant(minute * MINUTE),
        );
      }),
      { numRuns: 500 },
    );
    for (const [zone, day] of CHANGES) {
      const clock = naiveClock(zone);
      const from = Date.parse(`${day}T00:00:00Z`) - 12 * HOUR;
      for (let time = from; time < from + 2 * DAY; time += 15 * MINUTE) {
        expect(instantOf(zone, time), `${zone} ${texts([time])}`).toBe(clock.instant(time));
      }
    }
  }, 120_000);

  it('were moved within a day', () => {
    const at = (zone: string, time: string) => changeBefore(zone, Date.parse(`${time}:00Z`)) / MINUTE;
    expect(at('Europe/Berlin', '2027-03-28T00:59')).toBe(0);
    expect(at('Europe/Berlin', '2027-03-28T01:00')).toBe(60);
    expect(at('Europe/Berlin', '2027-03-29T01:00')).toBe(0);
    expect(at('Europe/Berlin', '2026-10-25T01:00')).toBe(-60);
    expect(at('Australia/Lord_Howe', '2026-10-04T12:00')).toBe(30);
  });

  it('have names of the IANA database', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) expect(isTimeZone(zone), zone).toBe(true);
    for (const zone of ['UTC', 'GMT', 'Etc/UTC', 'CET', 'EST5EDT', 'Japan', 'US/Eastern', 'Etc/GMT+5', 'GB-Eire']) {
      expect(isTimeZone(zone), zone).toBe(true);
    }
    for (const zone of [
      '',
      'IST',
      'PST',
      'BST',
      'CEST',
      'Mars/Base',
      '+01:00',
      'UTC+1',
      ' UTC',
      'Europe',
      'SystemV/EST5',
      'Europe/Berlin ',
    ]) {
      expect(isTimeZone(zone), zone).toBe(false);
    }
    expect(['UTC', 'Etc/UTC', 'GMT', 'Zulu', 'utc'].map(isUtc)).toEqual([true, true, true, true, true]);
    expect(['Europe/London', 'Africa/Abidjan'].map(isUtc)).toEqual([false, false]);
  });
});
