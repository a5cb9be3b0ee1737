import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastCalendarDate, nextCalendarDate, smallestGapMs } from '../../../src/domain/schedule/calendar-dates.ts';
import { readCron } from '../../../src/services/schedule/cron.ts';
import { naiveCron } from '../../support/naive-cron.ts';

const MINUTE = 60_000;
const FROM = new Date('2026-11-21T12:00:00Z');
const TWO_YEARS = 2 * 366 * 1440;

describe('CRON-bad', () => {
  it.each([
    '',
    ' ',
    '5 4',
    '0 0 * * * *',
    '0 0 0 1 1 * 2027',
    '@daily',
    '@every 1h',
    'TZ=Europe/Vienna 0 2 * * *',
    'CRON_TZ=UTC 0 2 * * *',
    '/0 * * * *',
    '*/0 * * * *',
    '0 0 31 2 *',
    '0 0 30 feb *',
    '0 0 31 4,6,9,11 *',
    '60 * * * *',
    '* 24 * * *',
    '0 0 0 * *',
    '0 0 32 * *',
    '0 0 * 13 *',
    '0 0 * * 8',
    '0 22-2 * * *',
    '0 0 * * fri-mon',
    '0 0 L * *',
    '0 0 15W * *',
    '0 0 * * 1#2',
    '0 0 ? * 1',
    'H H * * *',
    '0 0 * * monday',
    '0 0 * mon *',
    'jan 0 * * *',
    '1,,2 * * * *',
    ',1 * * * *',
    '1- * * * *',
    '-1 * * * *',
    '1.5 * * * *',
    '1e1 * * * *',
    '0x1 * * * *',
    '*/5/5 * * * *',
    '** * * * *',
    '0 2 * *\n*',
    '0\u00a02 * * *',
    `${Array.from({ length: 400 }, () => '1').join(',')} * * * *`,
  ])('%j is refused', (text) => expect(readCron(text)).toBeNull());
});

describe('cron text', () => {
  it.each([
    ['0 2 * * *', '2026-11-22T02:00:00.000Z'],
    ['  0\t2 * * * ', '2026-11-22T02:00:00.000Z'],
    ['0 2 13 * 5', '2026-11-27T02:00:00.000Z'],
    ['0 0 31 2 1', '2027-02-01T00:00:00.000Z'],
    ['0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
    ['0 0 * Jan,MAR sun', '2027-01-03T00:00:00.000Z'],
    ['0 0 * * 7', '2026-11-22T00:00:00.000Z'],
    ['0 0 * * 0,7', '2026-11-22T00:00:00.000Z'],
    ['0,*/15 * * * *', '2026-11-21T12:15:00.000Z'],
    ['1,1 * * * *', '2026-11-21T12:01:00.000Z'],
    ['7/20 12-14/2 * * *', '2026-11-21T12:07:00.000Z'],
  ])('%s is next due at %s', (text, next) => {
    expect(nextCalendarDate(readCron(text)!, FROM)).toEqual(new Date(next));
  });

  it('is due strictly after a moment, up to and including another', () => {
    const calendars = readCron('0 12 * * *')!;
    expect(nextCalendarDate(calendars, new Date(FROM.getTime() - 1))).toEqual(FROM);
    expect(nextCalendarDate(calendars, FROM)).toEqual(new Date('2026-11-22T12:00:00Z'));
    expect(lastCalendarDate(calendars, new Date(0), FROM)).toEqual(FROM);
    expect(lastCalendarDate(calendars, FROM, new Date(FROM.getTime() + 1439 * MINUTE))).toBeNull();
  });

  it.each([
    ['* * * * *', 1],
    ['0,59 * * * *', 1],
    ['0 * * * *', 60],
    ['0 0 1,15 * 1', 1440],
    ['0 0 29 2 *', 4 * 365.25 * 1440],
  ])('%s has neighbours that are %d minutes apart', (text, minutes) => {
    expect(smallestGapMs(readCron(text)!, FROM, 100)).toBe(minutes * MINUTE);
  });

  it('means the same as a look at every minute of two years', () => {
    fc.assert(
      fc.property(cronText, (text) => {
        const isDue = naiveCron(text);
        const expected: number[] = [];
        for (let minute = 1; minute <= TWO_YEARS && expected.length < 300; minute += 1) {
          const date = new Date(FROM.getTime() + minute * MINUTE);
          if (isDue(date)) expected.push(date.getTime());
        }
        const calendars = readCron(text);
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
      }),
      { numRuns: 25 },
    );
  });
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
