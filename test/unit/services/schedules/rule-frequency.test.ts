import { describe, expect, it } from 'vitest';
import { occurrences } from '../../../../src/domain/schedules/occurrences.ts';
import { isProblem, parseRule } from '../../../../src/domain/schedules/recurrence-rule.ts';
import { frequencyOf } from '../../../../src/domain/schedules/rule-frequency.ts';
import { daysOfYear } from '../../../../src/services/schedules/year-days.ts';
import { processorMs } from '../../../support/common/process.ts';
import fc from '../../../support/common/random.ts';
import { ENDLESS_RULES, STARTS } from './rules.ts';

const WEEK_MS = 7 * 86_400_000;
const START = Date.UTC(2001, 0, 6, 3);
const END = Date.UTC(2095, 0, 1);

function readRule(text: string) {
  const rule = parseRule(text);
  if (isProblem(rule)) throw new Error(`${text}: ${rule.message}`);
  return rule;
}

const classify = (text: string, start = START) => {
  const rule = readRule(text);
  return frequencyOf(rule, daysOfYear(rule, start));
};

/** Whether two dates of a rule from a start on are closer than a week. */
function comesClose(text: string, start: number): boolean {
  const rule = readRule(text);
  let last = Number.NEGATIVE_INFINITY;
  for (const date of occurrences(rule, start, start, daysOfYear(rule, start))) {
    if (date >= END) return false;
    if (date - last < WEEK_MS) return true;
    last = date;
  }
  return false;
}

/** The same time in a later period; in years on the same weekday, which a rule of weeks takes from its start. */
function later(text: string, periods: number): number {
  const frequency = /FREQ=(\w+)/.exec(text)![1]!;
  const date = new Date(START);
  if (frequency === 'YEARLY') date.setUTCDate(date.getUTCDate() + periods * 364);
  if (frequency === 'MONTHLY') date.setUTCMonth(periods);
  const units: Record<string, number> = { WEEKLY: 604_800, DAILY: 86_400, HOURLY: 3600, MINUTELY: 60, SECONDLY: 1 };
  return date.getTime() + (units[frequency] ?? 0) * 1000 * periods;
}

describe('how often a rule has dates', () => {
  it.each([
    'FREQ=WEEKLY',
    'FREQ=WEEKLY;COUNT=1',
    'FREQ=DAILY;INTERVAL=7',
    'FREQ=DAILY;INTERVAL=5;BYDAY=MO',
    'FREQ=HOURLY;INTERVAL=168',
    'FREQ=HOURLY;BYDAY=MO;BYHOUR=3',
    'FREQ=HOURLY;INTERVAL=24;BYDAY=MO',
    'FREQ=MINUTELY;INTERVAL=10080',
    'FREQ=SECONDLY;INTERVAL=604800',
    'FREQ=SECONDLY;BYMONTHDAY=1;BYHOUR=3;BYMINUTE=0;BYSECOND=0',
    'FREQ=MONTHLY;BYMONTHDAY=1,8,15,22',
    'FREQ=YEARLY;BYYEARDAY=1,359',
    'FREQ=YEARLY;BYWEEKNO=52,53,1',
    'FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=1',
  ])('is weekly at most for %s', (text) => {
    expect(classify(text)).toBe('weekly-at-most');
  });

  it.each([
    ['days of one week', 'FREQ=WEEKLY;BYDAY=MO,FR'],
    ['days of one week, however few COUNT leaves', 'FREQ=WEEKLY;BYDAY=MO,FR;COUNT=1'],
    ['days, however few UNTIL leaves', 'FREQ=DAILY;UNTIL=20261122'],
    ['some months only', 'FREQ=MONTHLY;BYMONTHDAY=1,8,15,23'],
    ['February only', 'FREQ=MONTHLY;BYMONTHDAY=22,-1'],
    ['February only, which every second month may be', 'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=22,-1'],
    ['the turn of the year only', 'FREQ=YEARLY;BYYEARDAY=1,360'],
    ['leap years only', 'FREQ=YEARLY;BYYEARDAY=60,-306'],
    ['leap years only, which every fourth year may be', 'FREQ=YEARLY;INTERVAL=4;BYYEARDAY=60,-306'],
    ['leap years and those after them', 'FREQ=YEARLY;BYYEARDAY=1,366'],
    ['29 February only', 'FREQ=YEARLY;BYMONTH=2,3;BYMONTHDAY=29,1'],
    ['some years only, by weekday', 'FREQ=MONTHLY;BYDAY=1MO,2SU'],
    ['weeks that are in two years', 'FREQ=YEARLY;BYWEEKNO=-1,1;BYDAY=SU,MO'],
    ['turns of 5 days that meet', 'FREQ=DAILY;INTERVAL=5;BYDAY=MO,SA'],
    ['turns of 25 hours that meet', 'FREQ=HOURLY;INTERVAL=25;BYHOUR=3,4'],
    ['two times of a day', 'FREQ=MONTHLY;BYHOUR=1,13'],
    ['two times of an hour that is rare', 'FREQ=HOURLY;INTERVAL=2000;BYMINUTE=1,2'],
    ['seconds', 'FREQ=SECONDLY'],
  ])('is more than weekly by %s: %s', (_, text) => {
    for (const start of [START, Date.UTC(1955, 6, 2), Date.UTC(2098, 11, 31, 23, 59, 59)]) {
      expect(classify(text, start)).toBe('too-often');
    }
  });

  it.each([
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;BYMONTH=4,6,9,11;BYMONTHDAY=31',
    'FREQ=YEARLY;BYMONTH=1;BYYEARDAY=200',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=3',
    'FREQ=DAILY;BYSETPOS=2;BYHOUR=3',
    'FREQ=YEARLY;BYMONTH=1;BYDAY=40MO',
    'FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1,2',
  ])('is never for %s', (text) => {
    expect(classify(text)).toBe('never');
  });

  it('depends on the rule alone, as the dates of random rules show in whatever period they start', () => {
    const frequent = { yes: 0, no: 0 };
    const intervals = /INTERVAL=(\d+)/;
    const rules = ENDLESS_RULES.filter((text) => Number(intervals.exec(text)?.[1] ?? 1) <= 60);
    fc.assert(
      fc.property(rules, STARTS, (text, start) => {
        const turns = Number(intervals.exec(text)?.[1] ?? 1);
        const isClose = Array.from({ length: turns }, (_, turn) => later(text, turn)).some((from) =>
          comesClose(text, from),
        );
        const verdict = classify(text);
        expect(verdict === 'too-often', text).toBe(isClose);
        frequent[isClose ? 'yes' : 'no'] += 1;
        // A rule of weeks that takes its weekday from the start may have dates from some starts and none from others, and
        // its positions count others at the turn of a year.
        const isByStart = /BYWEEKNO.*(BYSETPOS|BYMONTH)/.test(text) && !text.includes('BYDAY');
        const own = classify(text, start);
        if (own !== 'never' && !isByStart) expect(own === 'too-often', text).toBe(isClose);
      }),
      { numRuns: 500 },
    );
    expect(Math.min(frequent.yes, frequent.no)).toBeGreaterThan(50);
  }, 120_000);

  it('is classified in bounded time', async () => {
    const all = (count: number, from = 0) => Array.from({ length: count }, (_, n) => n + from).join(',');
    const texts = [
      `FREQ=DAILY;BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)};BYSETPOS=366`,
      `FREQ=SECONDLY;INTERVAL=299;BYMINUTE=${all(30)};BYSECOND=${all(30)};BYMONTHDAY=31;BYMONTH=2`,
      `FREQ=SECONDLY;INTERVAL=86399;BYHOUR=0;BYMINUTE=0;BYSECOND=0`,
      `FREQ=YEARLY;BYYEARDAY=${all(200, 100)};BYSETPOS=-300,-301,-302,300,301`,
      `FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=${all(200, 100)}`,
      `FREQ=MONTHLY;BYMONTHDAY=${all(31, 1)};BYMONTH=2;BYSETPOS=${all(200, 30)}`,
    ];
    const classifyAll = () => {
      for (const text of texts) {
        classify(text);
        comesClose(text, START);
      }
    };
    expect(await processorMs(classifyAll)).toBeLessThan(5_000);
  });
});
