import fc from '../random.ts';

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;

const list = <T>(entries: fc.Arbitrary<T>, most: number): fc.Arbitrary<string> =>
  fc.uniqueArray(entries, { minLength: 1, maxLength: most }).map((values) => values.join(','));
const fromEitherEnd = (most: number) => fc.integer({ min: -most, max: most }).filter((n) => n !== 0);
/** Mostly numbers near either end, where sets run out. */
const position = fc.oneof(fromEitherEnd(3), fromEitherEnd(8), fromEitherEnd(366));
const weekday = fc.constantFrom(...WEEKDAYS);
const numbered = (most: number) =>
  fc.tuple(fc.integer({ min: -most, max: most }), weekday).map(([n, day]) => (n === 0 ? day : `${n}${day}`));

/** A part of a rule that is there in so many of a hundred. */
const part = (name: string, value: fc.Arbitrary<string | number>, percent: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: percent, arbitrary: value.map((text) => `;${name}=${text}`) },
    { weight: 100 - percent, arbitrary: fc.constant('') },
  );

const months = (percent: number) => part('BYMONTH', list(fc.integer({ min: 1, max: 12 }), 5), percent);
const monthDays = (percent: number) => part('BYMONTHDAY', list(fromEitherEnd(31), 5), percent);
const yearDays = (percent: number) =>
  part('BYYEARDAY', list(fc.oneof(fromEitherEnd(366), fromEitherEnd(3)), 6), percent);
const weekdays = (percent: number) => part('BYDAY', list(weekday, 7), percent);
const hours = (percent: number) => part('BYHOUR', list(fc.integer({ min: 0, max: 23 }), 4), percent);
const minutes = (percent: number) => part('BYMINUTE', list(fc.integer({ min: 0, max: 59 }), 3), percent);
const seconds = (percent: number) => part('BYSECOND', list(fc.integer({ min: 0, max: 59 }), 3), percent);
const positions = (percent: number) => part('BYSETPOS', list(position, 4), percent);
const weekStart = part('WKST', weekday, 40);
const times = [hours(25), minutes(15), seconds(10)];
const interval = (most: number) => part('INTERVAL', fc.integer({ min: 1, max: most }), 50);

const day = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * 86_400_000).toISOString().slice(0, 10);
const until = fc
  .tuple(fc.integer({ min: 1, max: 1200 }), fc.constantFrom('', 'T000000', 'T101500', 'T235959'))
  .map(([number, time]) => `;UNTIL=${day(number).replaceAll('-', '')}${time}`);
const end = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }).map((n) => `;COUNT=${n}`) },
  { weight: 1, arbitrary: until },
);

const rule = (frequency: string, ...parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts, weekStart).map((texts) => `FREQ=${frequency}${texts.join('')}`);
/** BYSETPOS needs another part beside it. */
const hasChoice = (text: string) => !text.includes('BYSETPOS') || /;BY(?!SETPOS)/.test(text);
/** Beside BYWEEKNO up to the last weeks it is rejected. */
const isClear = (text: string) => !text.includes('BYSETPOS') || !/BYWEEKNO=([^;]*,)?-?5[23]/.test(text);

/** Rules without COUNT and UNTIL, of every frequency and combination of parts that RFC 5545 allows. */
export const ENDLESS_RULES: fc.Arbitrary<string> = fc
  .oneof(
    rule('WEEKLY', interval(6), weekdays(70), months(30), ...times, positions(40)),
    rule('DAILY', interval(40), weekdays(40), monthDays(40), months(30), ...times, positions(25)),
    rule('MONTHLY', interval(14), weekdays(50), monthDays(40), months(30), ...times, positions(40)),
    rule('MONTHLY', interval(7), part('BYDAY', list(numbered(5), 4), 100), monthDays(20), months(30), positions(25)),
    rule('YEARLY', interval(3), months(50), monthDays(40), weekdays(30), ...times, positions(40)),
    rule('YEARLY', interval(3), months(40), part('BYDAY', list(numbered(5), 4), 100), positions(25)),
    rule('YEARLY', interval(2), part('BYDAY', list(numbered(53), 4), 100), yearDays(15), monthDays(15)),
    rule('YEARLY', interval(3), yearDays(100), weekdays(30), months(20), monthDays(15), positions(30)),
    rule(
      'YEARLY',
      interval(3),
      part('BYWEEKNO', list(fc.oneof(fromEitherEnd(53), fromEitherEnd(2)), 4), 100),
      weekdays(50),
      months(15),
      monthDays(15),
      yearDays(10),
      ...times,
      positions(20),
    ),
    rule('HOURLY', interval(1000), weekdays(40), monthDays(25), months(25), yearDays(15), ...times, positions(30)),
    rule('MINUTELY', interval(30_000), weekdays(40), monthDays(25), months(25), yearDays(15), ...times, positions(20)),
    rule(
      'SECONDLY',
      interval(1_000_000),
      weekdays(40),
      monthDays(25),
      months(25),
      yearDays(15),
      ...times,
      positions(20),
    ),
  )
  .filter((text) => hasChoice(text) && isClear(text));

/** The same with COUNT, UNTIL or neither. */
export const RULES: fc.Arbitrary<string> = fc.tuple(ENDLESS_RULES, end).map((texts) => texts.join(''));

/** What clocks show at a start, on a whole second of the years around 2026; in ms as if in UTC. */
export const STARTS: fc.Arbitrary<number> = fc
  .integer({ min: Date.UTC(2023, 11, 1) / 1000, max: Date.UTC(2029, 0, 31) / 1000 })
  .map((second) => second * 1000);
