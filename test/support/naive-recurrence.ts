import type { RecurrenceRule } from '../../src/domain/schedule/recurrence-rule.ts';

const DAY_MS = 86_400_000;
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/**
 * Occurrences of a rule by looking at every single day, written from the text of RFC 5545 and nothing else: slow, and
 * of one time per day. The anchor counts as one of COUNT, on the rule or not. @returns those from the anchor to `before`,
 * ascending
 */
export function naiveOccurrences(rule: RecurrenceRule, anchor: Date, before: Date): Date[] {
  const weekStart = /WKST=(..)/.exec(rule.text)?.[1] ?? 'MO';
  const periods = new Map<string, Date[]>();
  const first = startOfDay(startOfYear(anchor));
  const { BYHOUR, BYMINUTE, BYSECOND } = rule.lists;
  const time =
    Number(BYHOUR?.[0] ?? anchor.getUTCHours()) * 3_600_000 +
    Number(BYMINUTE?.[0] ?? anchor.getUTCMinutes()) * 60_000 +
    Number(BYSECOND?.[0] ?? anchor.getUTCSeconds()) * 1000;
  // A week that holds the anchor, or the first week of its year, may begin in the year before.
  for (let day = first - 10 * DAY_MS; day < before.getTime() + 370 * DAY_MS; day += DAY_MS) {
    const date = new Date(day);
    const period = periodOf(rule.frequency, date, weekStart);
    if (!isChosenPeriod(rule, period, anchor, weekStart) || !fits(rule, date, anchor, weekStart)) continue;
    const days = periods.get(String(period)) ?? [];
    days.push(new Date(day + time));
    periods.set(String(period), days);
  }
  const positions = rule.lists['BYSETPOS']?.map(Number);
  const all = [...periods.values()]
    .flatMap((days) =>
      positions ? days.filter((_, i) => positions.some((p) => p === i + 1 || p === i - days.length)) : days,
    )
    .filter((date) => date >= anchor && (rule.until === null || date <= rule.until))
    .sort((a, b) => a.getTime() - b.getTime());
  const counted = all[0]?.getTime() === anchor.getTime() ? 0 : 1;
  return all.slice(0, rule.count === null ? all.length : rule.count - counted).filter((date) => date < before);
}

function startOfYear(date: Date): number {
  return Date.UTC(date.getUTCFullYear(), 0, 1);
}

function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

function weekOf(date: Date, weekStart: string): number {
  const behind = (date.getUTCDay() - DAYS.indexOf(weekStart) + 7) % 7;
  return Math.round((startOfDay(date.getTime()) - behind * DAY_MS) / DAY_MS / 7 + 10_000);
}

/** Number of the year, month, week or day. */
function periodOf(frequency: RecurrenceRule['frequency'], date: Date, weekStart: string): number {
  switch (frequency) {
    case 'YEARLY':
      return date.getUTCFullYear();
    case 'MONTHLY':
      return date.getUTCFullYear() * 12 + date.getUTCMonth();
    case 'WEEKLY':
      return weekOf(date, weekStart);
    case 'DAILY':
      return startOfDay(date.getTime()) / DAY_MS;
  }
}

function isChosenPeriod(rule: RecurrenceRule, period: number, anchor: Date, weekStart: string): boolean {
  const distance = period - periodOf(rule.frequency, anchor, weekStart);
  return distance >= 0 && distance % rule.interval === 0;
}

function fits(rule: RecurrenceRule, date: Date, anchor: Date, weekStart: string): boolean {
  const { lists, frequency } = rule;
  const monthLength = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const dayOfMonth = date.getUTCDate();
  const yearLength = (Date.UTC(date.getUTCFullYear() + 1, 0, 1) - startOfYear(date)) / DAY_MS;
  const dayOfYear = (startOfDay(date.getTime()) - startOfYear(date)) / DAY_MS + 1;
  const among = (name: string, ...numbers: number[]) => lists[name]?.some((n) => numbers.includes(Number(n))) ?? true;
  return (
    among('BYMONTH', date.getUTCMonth() + 1) &&
    among('BYMONTHDAY', dayOfMonth, dayOfMonth - monthLength - 1) &&
    among('BYYEARDAY', dayOfYear, dayOfYear - yearLength - 1) &&
    isInWeek(lists['BYWEEKNO'], date, weekStart) &&
    (lists['BYDAY']?.some((entry) =>
      isWeekday(entry, date, frequency === 'MONTHLY' || lists['BYMONTH'] !== undefined),
    ) ??
      true) &&
    fitsAnchor(rule, date, anchor)
  );
}

/** Weeks of a year: the first has at least four days of it. */
function isInWeek(list: readonly string[] | undefined, date: Date, weekStart: string): boolean {
  if (!list) return true;
  const year = date.getUTCFullYear();
  const firstWeek = (of: number) => weekOf(new Date(Date.UTC(of, 0, 4)), weekStart);
  const week = weekOf(date, weekStart);
  return [year - 1, year, year + 1].some((of) => {
    const number = week - firstWeek(of) + 1;
    const weeks = firstWeek(of + 1) - firstWeek(of);
    return number >= 1 && number <= weeks && list.some((n) => Number(n) === number || Number(n) === number - weeks - 1);
  });
}

function isWeekday(entry: string, date: Date, inMonth: boolean): boolean {
  if (DAYS[date.getUTCDay()] !== entry.slice(-2)) return false;
  const number = Number(entry.slice(0, -2));
  if (number === 0) return true;
  const start = inMonth ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) : startOfYear(date);
  const end = inMonth
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    : Date.UTC(date.getUTCFullYear() + 1, 0, 1);
  const day = startOfDay(date.getTime());
  const fromStart = Math.floor((day - start) / DAY_MS / 7) + 1;
  const fromEnd = Math.floor((end - DAY_MS - day) / DAY_MS / 7) + 1;
  return number === fromStart || number === -fromEnd;
}

/** What the rule does not say comes from the anchor. */
function fitsAnchor({ lists, frequency }: RecurrenceRule, date: Date, anchor: Date): boolean {
  const has = (...names: string[]) => names.some((name) => lists[name] !== undefined);
  if (frequency === 'WEEKLY') return has('BYDAY') || date.getUTCDay() === anchor.getUTCDay();
  if (frequency === 'MONTHLY') return has('BYDAY', 'BYMONTHDAY') || date.getUTCDate() === anchor.getUTCDate();
  if (frequency === 'DAILY') return true;
  if (has('BYDAY', 'BYMONTHDAY', 'BYYEARDAY')) return true;
  if (has('BYWEEKNO')) return date.getUTCDay() === anchor.getUTCDay();
  const sameMonth = has('BYMONTH') || date.getUTCMonth() === anchor.getUTCMonth();
  return sameMonth && date.getUTCDate() === anchor.getUTCDate();
}
