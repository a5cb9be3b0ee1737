import fc from '../../../support/common/random.ts';

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

const at = (time: string, ...days: string[]) => days.map((day) => `${day}T${time}`);
/** Days of months, `1997-09: 2 4 9`. */
const days = (...months: string[]) =>
  months.flatMap((line) => {
    const [month, list] = line.split(': ') as [string, string];
    return list.split(' ').map((day) => `${month}-${day.padStart(2, '0')}`);
  });
const nine = (...months: string[]) => at('09:00', ...days(...months));

/** Examples of RFC 5545 (3.8.5.3): rule, start and the first dates as clocks show them. */
export const RFC_EXAMPLES: ReadonlyArray<[rule: string, start: string, dates: string[]]> = [
  ['FREQ=DAILY;COUNT=10', '1997-09-02T09:00', nine('1997-09: 2 3 4 5 6 7 8 9 10 11')],
  ['FREQ=DAILY;INTERVAL=10;COUNT=5', '1997-09-02T09:00', nine('1997-09: 2 12 22', '1997-10: 2 12')],
  ['FREQ=WEEKLY;INTERVAL=2;WKST=SU', '1997-09-02T09:00', nine('1997-09: 2 16 30', '1997-10: 14 28', '1997-11: 11 25')],
  [
    'FREQ=WEEKLY;UNTIL=19971007;WKST=SU;BYDAY=TU,TH',
    '1997-09-02T09:00',
    nine('1997-09: 2 4 9 11 16 18 23 25 30', '1997-10: 2 7'),
  ],
  [
    'FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000;WKST=SU;BYDAY=MO,WE,FR',
    '1997-09-01T09:00',
    nine(
      ...['1997-09: 1 3 5 15 17 19 29', '1997-10: 1 3 13 15 17 27 29 31'],
      ...['1997-11: 10 12 14 24 26 28', '1997-12: 8 10 12 22'],
    ),
  ],
  [
    'FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH',
    '1997-09-02T09:00',
    nine('1997-09: 2 4 16 18 30', '1997-10: 2 14 16'),
  ],
  [
    'FREQ=MONTHLY;BYDAY=1FR',
    '1997-09-05T09:00',
    nine('1997-09: 5', '1997-10: 3', '1997-11: 7', '1997-12: 5', '1998-01: 2', '1998-02: 6', '1998-03: 6'),
  ],
  [
    'FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU',
    '1997-09-07T09:00',
    nine('1997-09: 7 28', '1997-11: 2 30', '1998-01: 4 25', '1998-03: 1 29', '1998-05: 3 31'),
  ],
  [
    'FREQ=MONTHLY;COUNT=6;BYDAY=-2MO',
    '1997-09-22T09:00',
    nine('1997-09: 22', '1997-10: 20', '1997-11: 17', '1997-12: 22', '1998-01: 19', '1998-02: 16'),
  ],
  [
    'FREQ=MONTHLY;BYMONTHDAY=-3',
    '1997-09-28T09:00',
    nine('1997-09: 28', '1997-10: 29', '1997-11: 28', '1997-12: 29', '1998-01: 29', '1998-02: 26'),
  ],
  [
    'FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1',
    '1997-09-30T09:00',
    nine('1997-09: 30', '1997-10: 1 31', '1997-11: 1 30', '1997-12: 1 31', '1998-01: 1 31', '1998-02: 1'),
  ],
  [
    'FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15',
    '1997-09-10T09:00',
    nine('1997-09: 10 11 12 13 14 15', '1999-03: 10 11 12 13'),
  ],
  ['FREQ=MONTHLY;INTERVAL=2;BYDAY=TU', '1997-09-02T09:00', nine('1997-09: 2 9 16 23 30', '1997-11: 4 11 18 25')],
  [
    'FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3',
    '1997-03-10T09:00',
    nine('1997-03: 10', '1999-01: 10', '1999-02: 10', '1999-03: 10', '2001-01: 10', '2001-02: 10', '2001-03: 10'),
  ],
  [
    'FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200',
    '1997-01-01T09:00',
    nine(
      ...['1997-01: 1', '1997-04: 10', '1997-07: 19', '2000-01: 1', '2000-04: 9', '2000-07: 18'],
      ...['2003-01: 1', '2003-04: 10', '2003-07: 19', '2006-01: 1'],
    ),
  ],
  ['FREQ=YEARLY;BYDAY=20MO', '1997-05-19T09:00', nine('1997-05: 19', '1998-05: 18', '1999-05: 17')],
  ['FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', '1997-05-12T09:00', nine('1997-05: 12', '1998-05: 11', '1999-05: 17')],
  ['FREQ=YEARLY;BYMONTH=3;BYDAY=TH', '1997-03-13T09:00', nine('1997-03: 13 20 27', '1998-03: 5 12 19 26')],
  [
    'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
    '1997-09-02T09:00',
    nine('1997-09: 2', '1998-02: 13', '1998-03: 13', '1998-11: 13', '1999-08: 13', '2000-10: 13'),
  ],
  [
    'FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13',
    '1997-09-13T09:00',
    nine('1997-09: 13', '1997-10: 11', '1997-11: 8', '1997-12: 13', '1998-01: 10', '1998-02: 7', '1998-03: 7'),
  ],
  [
    'FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8',
    '1996-11-05T09:00',
    nine('1996-11: 5', '2000-11: 7', '2004-11: 2'),
  ],
  [
    'FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3',
    '1997-09-04T09:00',
    nine('1997-09: 4', '1997-10: 7', '1997-11: 6'),
  ],
  [
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2',
    '1997-09-29T09:00',
    nine('1997-09: 29', '1997-10: 30', '1997-11: 27', '1997-12: 30', '1998-01: 29', '1998-02: 26', '1998-03: 30'),
  ],
  [
    'FREQ=MINUTELY;INTERVAL=90;COUNT=4',
    '1997-09-02T09:00',
    ['09:00', '10:30', '12:00', '13:30'].map((time) => `1997-09-02T${time}`),
  ],
  [
    'FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,16',
    '1997-09-02T09:00',
    ['09:00', '09:20', '09:40', '16:00', '16:20', '16:40'].map((time) => `1997-09-02T${time}`),
  ],
  ['FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO', '1997-08-05T09:00', nine('1997-08: 5 10 19 24')],
  ['FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU', '1997-08-05T09:00', nine('1997-08: 5 17 19 31')],
  [
    'FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5',
    '2007-01-15T09:00',
    nine('2007-01: 15 30', '2007-02: 15', '2007-03: 15 30'),
  ],
];
