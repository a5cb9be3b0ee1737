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
