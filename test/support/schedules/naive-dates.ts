const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const UNITS: Readonly<Record<string, number>> = { DAILY: DAY, HOURLY: HOUR, MINUTELY: MINUTE, SECONDLY: SECOND };

/** A rule as in its text. */
interface Rule {
  frequency: string;
  interval: number;
  weekStart: string;
  /** Lists by name. */
  by: ReadonlyMap<string, readonly string[]>;
  positions: readonly number[] | null;
  count: number;
  until: number;
}

/**
 * Dates of a recurrence rule, written from the words of RFC 5545 (3.3.10) and nothing else: it takes the rule's text
 * apart itself, goes from period to period, looks at every day of each and at every time of day that may be meant, and
 * takes what every part allows. Slow.
 *
 * @param start - DTSTART in ms, as if in UTC: the first date, on the rule or not
 * @param end - later dates are left out
 * @param most - so many dates are enough
 * @returns ascending, each once
 */
export function naiveOccurrences(text: string, start: number, end: number, most = Number.POSITIVE_INFINITY): number[] {
  const rule = readRule(text);
  const dates = [start];
  for (let number = 0; ; number += 1) {
    const period = periodOf(rule, start, number * rule.interval);
    if (period.first >= end) return dates;
    for (const date of datesOf(rule, period, start)) {
      if (date > rule.until || date >= end || dates.length >= Math.min(rule.count, most)) return dates;
      if (date > start) dates.push(date);
    }
  }
}

function readRule(text: string): Rule {
  const parts = new Map(text.split(';').map((part) => part.split('=') as [string, string]));
  const [, year, month, day, time] = /^(\d{4})(\d\d)(\d\d)(?:T(\d{6}))?/.exec(parts.get('UNTIL') ?? '') ?? [];
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  const [hours, minutes, seconds] = (time?.match(/../g) ?? []).map(Number);
  const end = time ? hours! * HOUR + minutes! * MINUTE + seconds! * SECOND : DAY - 1;
  return {
    frequency: parts.get('FREQ')!,
    interval: Number(parts.get('INTERVAL') ?? 1),
    weekStart: parts.get('WKST') ?? 'MO',
    by: new Map([...parts].filter(([name]) => name.startsWith('BY')).map(([name, list]) => [name, list.split(',')])),
    positions: parts.get('BYSETPOS')?.split(',').map(Number) ?? null,
    count: Number(parts.get('COUNT') ?? Number.POSITIVE_INFINITY),
    until: parts.has('UNTIL') ? midnight + end : Number.POSITIVE_INFINITY,
  };
}

/** The period so many after the one that the start is in; its end is not part of it. */
function periodOf({ frequency, weekStart }: Rule, start: number, later: number): { first: number; end: number } {
  const date = new Date(start);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  switch (frequency) {
    case 'YEARLY':
      return { first: Date.UTC(year + later, 0, 1), end: Date.UTC(year + later + 1, 0, 1) };
    case 'MONTHLY':
      return { first: Date.UTC(year, month + later, 1), end: Date.UTC(year, month + later + 1, 1) };
    case 'WEEKLY': {
      const first = weekOf(start, weekStart) + later * 7 * DAY;
      return { first, end: first + 7 * DAY };
    }
    default: {
      const unit = UNITS[frequency]!;
      const first = (Math.floor(start / unit) + later) * unit;
      return { first, end: first + unit };
    }
  }
}

/** Midnight of the first day of a week. */
function weekOf(time: number, weekStart: string): number {
  let day = Math.floor(time / DAY) * DAY;
  while (DAYS[new Date(day).getUTCDay()] !== weekStart) day -= DAY;
  return day;
}

/** All dates of one period. */
function datesOf(rule: Rule, { first, end }: { first: number; end: number }, start: number): number[] {
  const dates: number[] = [];
  for (let day = Math.floor(first / DAY) * DAY; day < end; day += DAY) {
    if (!isDay(rule, new Date(day), new Date(start))) continue;
    for (const hour of timesOf(rule, 'BYHOUR', HOUR, first - day, start)) {
      for (const minute of timesOf(rule, 'BYMINUTE', MINUTE, first - day - hour * HOUR, start)) {
        for (const second of timesOf(rule, 'BYSECOND', SECOND, first - day - hour * HOUR - minute * MINUTE, start)) {
          dates.push(day + hour * HOUR + minute * MINUTE + second * SECOND);
        }
      }
    }
  }
  dates.sort((a, b) => a - b);
  const { positions } = rule;
  return positions === null
    ? dates
    : dates.filter((_, i) => positions.includes(i + 1) || positions.includes(i - dates.length));
}

/**
 * Hours, minutes or seconds that a date may have: where the period is as short, that of the period if the list allows
 * it; else those of the list; else that of the start.
 */
function timesOf({ frequency, by }: Rule, name: string, unit: number, sincePeriod: number, start: number): number[] {
  const list = by.get(name)?.map(Number);
  if ((UNITS[frequency] ?? DAY) > unit) return [...new Set(list ?? [partOf(start, unit)])];
  const own = Math.floor(sincePeriod / unit);
  return !list || list.includes(own) ? [own] : [];
}

function partOf(time: number, unit: number): number {
  const date = new Date(time);
  return unit === HOUR ? date.getUTCHours() : unit === MINUTE ? date.getUTCMinutes() : date.getUTCSeconds();
}

function isDay(rule: Rule, date: Date, start: Date): boolean {
  const { by, frequency } = rule;
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  const beside = (name: string, value: number, length: number) =>
    by.get(name)?.some((n) => Number(n) === value || Number(n) === value - length - 1) ?? true;
  const daysBetween = (from: number, to: number) => Math.round((to - from) / DAY);
  const newYear = Date.UTC(year, 0, 1);
  return (
    (by.get('BYMONTH')?.some((n) => Number(n) === month + 1) ?? true) &&
    beside('BYMONTHDAY', date.getUTCDate(), daysBetween(Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1))) &&
    beside('BYYEARDAY', daysBetween(newYear, date.getTime()) + 1, daysBetween(newYear, Date.UTC(year + 1, 0, 1))) &&
    isInWeek(rule, date) &&
    (by.get('BYDAY')?.some((entry) => isWeekday(entry, date, frequency === 'YEARLY' && !by.has('BYMONTH'))) ?? true) &&
    isLikeStart(rule, date, start)
  );
}

/** The first week of a year is the one with 4 January in it. */
function isInWeek({ by, weekStart }: Rule, date: Date): boolean {
  const list = by.get('BYWEEKNO')?.map(Number);
  if (!list) return true;
  const firstWeek = (year: number) => weekOf(Date.UTC(year, 0, 4), weekStart);
  let year = date.getUTCFullYear() - 1;
  while (firstWeek(year + 1) <= date.getTime()) year += 1;
  const number = Math.round((weekOf(date.getTime(), weekStart) - firstWeek(year)) / (7 * DAY)) + 1;
  const weeks = Math.round((firstWeek(year + 1) - firstWeek(year)) / (7 * DAY));
  return list.includes(number) || list.includes(number - weeks - 1);
}

/** Counts the same weekdays of the year or month before and after the date. */
function isWeekday(entry: string, date: Date, inYear: boolean): boolean {
  if (DAYS[date.getUTCDay()] !== entry.slice(-2)) return false;
  const ordinal = Number(entry.slice(0, -2));
  if (ordinal === 0) return true;
  const isSame = (other: Date) =>
    other.getUTCFullYear() === date.getUTCFullYear() && (inYear || other.getUTCMonth() === date.getUTCMonth());
  const step = Math.sign(ordinal) * 7 * DAY;
  let place = 0;
  for (let day = date.getTime(); isSame(new Date(day)); day -= step) place += 1;
  return place === Math.abs(ordinal);
}

/** What the rule omits comes from the start. */
function isLikeStart({ by, frequency }: Rule, date: Date, start: Date): boolean {
  const has = (...names: string[]) => names.some((name) => by.has(name));
  const isSameWeekday = date.getUTCDay() === start.getUTCDay();
  const isSameDay = date.getUTCDate() === start.getUTCDate();
  if (frequency === 'WEEKLY') return has('BYDAY') || isSameWeekday;
  if (frequency === 'MONTHLY') return has('BYDAY', 'BYMONTHDAY') || isSameDay;
  if (frequency !== 'YEARLY' || has('BYDAY', 'BYMONTHDAY', 'BYYEARDAY')) return true;
  if (has('BYWEEKNO')) return isSameWeekday;
  return isSameDay && (has('BYMONTH') || date.getUTCMonth() === start.getUTCMonth());
}

const NAMES = ['jan feb mar apr may jun jul aug sep oct nov dec', 'sun mon tue wed thu fri sat'];

/**
 * Whether cron text includes a minute in UTC, written from the words of POSIX and nothing else: five fields,
 * and where neither kind of day is `*`, either is enough.
 */
export function naiveCron(text: string): (minute: Date) => boolean {
  const [minutes, hours, days, months, weekdays] = text.trim().split(/\s+/) as [string, string, string, string, string];
  return (date) => {
    const day = matches(days, date.getUTCDate(), 1, 31);
    const weekday =
      matches(weekdays, date.getUTCDay(), 0, 7, NAMES[1]) ||
      (date.getUTCDay() === 0 && matches(weekdays, 7, 0, 7, NAMES[1]));
    const isDay = !isAny(days) && !isAny(weekdays) ? day || weekday : day && weekday;
    return (
      isDay &&
      matches(minutes, date.getUTCMinutes(), 0, 59) &&
      matches(hours, date.getUTCHours(), 0, 23) &&
      matches(months, date.getUTCMonth() + 1, 1, 12, NAMES[0])
    );
  };
}

const isAny = (field: string) => field === '*' || field === '*/1';

function matches(field: string, value: number, low: number, high: number, names?: string): boolean {
  const number = (word: string) => {
    const place = names?.split(' ').indexOf(word.toLowerCase()) ?? -1;
    return place < 0 ? Number(word) : place + low;
  };
  return field.split(',').some((item) => {
    const [range, step] = item.split('/') as [string, string | undefined];
    const [first, last] = range === '*' ? [low, high] : range.split('-').map(number);
    const end = last ?? (step === undefined ? first! : high);
    return value >= first! && value <= end && (value - first!) % Number(step ?? 1) === 0;
  });
}

const SHOWN = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;

/** Reads clocks of a zone as text, and looks at one moment after the other: slow. */
export function naiveClock(timezone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...SHOWN,
    second: 'numeric',
    hourCycle: 'h23',
    timeZone: timezone,
  });
  /** What clocks show, in ms as if in UTC. */
  const shown = (instant: number): number => {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
  };
  return {
    shown,
    /**
     * The first moment at which clocks show a time; of one that they skip, the moment by the offset before.
     *
     * @param wall - since 1973, when offsets became multiples of a quarter of an hour
     */
    instant(wall: number): number {
      const quarter = 15 * MINUTE;
      let offset = 0;
      for (let instant = wall - 60 * quarter; instant <= wall + 60 * quarter; instant += quarter) {
        const now = shown(instant);
        if (now === wall) return instant;
        if (now > wall) break;
        offset = now - instant;
      }
      return wall - offset;
    },
  };
}
