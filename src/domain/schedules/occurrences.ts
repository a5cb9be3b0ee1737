import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../common/durations.ts';
import { LAST_DATE } from './plan.ts';
import { isShort, type LongRule, PERIOD_MS, type RecurrenceRule, type ShortRule } from './recurrence-rule.ts';
import { type DaysOfYear, daysFrom, modulo, weekOffset } from './rule-days.ts';

const LAST_YEAR = LAST_DATE.getUTCFullYear();

/** Ascending, in local ms as if in UTC, to {@link LAST_YEAR}, without COUNT and UNTIL; may omit those before `from`. */
export function occurrences(rule: RecurrenceRule, start: number, from: number, daysOf: DaysOfYear): Generator<number> {
  return isShort(rule) ? ofShort(rule, start, from, daysOf) : ofLong(rule, start, from, daysOf);
}

function* ofLong(rule: LongRule, start: number, from: number, daysOf: DaysOfYear) {
  const first = periodOf(rule, dayOf(start));
  const times = timesOf(rule, start);
  const begin = firstDayOf(rule, dayOf(Math.max(start, from)));
  for (const { period, days } of periodsFrom(rule, begin, LAST_YEAR, daysOf)) {
    if ((period - first) % rule.interval !== 0) continue;
    for (const date of chosen(rule, days, times)) if (date >= start) yield date;
  }
}

function* ofShort(rule: ShortRule, start: number, from: number, daysOf: DaysOfYear) {
  const length = PERIOD_MS[rule.frequency];
  const offsets = offsetsOf(rule, start);
  if (offsets.length === 0) return;
  const timesOn = intervalTimes(rule, Math.floor(start / length));
  for (const day of daysFrom(dayOf(Math.max(start, from)), LAST_YEAR, daysOf)) {
    for (const time of timesOn(day)) {
      for (const offset of offsets) {
        const date = day * DAY_MS + time + offset;
        if (date >= start) yield date;
      }
    }
  }
}

function intervalTimes(rule: ShortRule, first: number): (day: number) => readonly number[] {
  const { interval } = rule;
  const length = PERIOD_MS[rule.frequency];
  const perDay = DAY_MS / length;
  const isAllowed = timeFilter(rule);
  const known = new Map<number, readonly number[]>();
  const find = (turn: number): readonly number[] => {
    const times: number[] = [];
    for (let period = turn; period < perDay; period += interval) {
      if (isAllowed(period * length)) times.push(period * length);
    }
    if (interval < perDay) known.set(turn, times);
    return times;
  };
  return (day) => {
    const turn = modulo(first - day * perDay, interval);
    return known.get(turn) ?? find(turn);
  };
}

/** Times of day, in ms, at which the allowed periods begin, ascending. Longer periods select days instead. */
export function allowedTimes(rule: ShortRule): Generator<number> {
  const length = PERIOD_MS[rule.frequency];
  const all = (most: number, of: number) => (of < length ? [0] : Array.from({ length: most }, (_, n) => n));
  const { hours, minutes, seconds } = timeLists(rule);
  return products(hours ?? all(24, HOUR_MS), minutes ?? all(60, MINUTE_MS), seconds ?? all(60, SECOND_MS));
}

/** Returns a check whether a rule allows a period that begins at a time of day. */
export function timeFilter(rule: ShortRule): (time: number) => boolean {
  const { hours, minutes, seconds } = timeLists(rule);
  return (time) =>
    (!hours || hours.includes(Math.floor(time / HOUR_MS))) &&
    (!minutes || minutes.includes(Math.floor(time / MINUTE_MS) % 60)) &&
    (!seconds || seconds.includes(Math.floor(time / SECOND_MS) % 60));
}

function timeLists({ frequency, lists }: ShortRule) {
  const choosing = (name: string, of: number) => (PERIOD_MS[frequency] <= of ? numbersOf(lists[name]) : null);
  return {
    hours: choosing('BYHOUR', HOUR_MS),
    minutes: choosing('BYMINUTE', MINUTE_MS),
    seconds: choosing('BYSECOND', SECOND_MS),
  };
}

/** Allowed times within each period after BYSETPOS, in ms from its beginning. */
export function offsetsOf(rule: ShortRule, start: number): number[] {
  const times = timesWithin(rule, PERIOD_MS[rule.frequency], start);
  const indexes = indexesOf(rule, times.length);
  return indexes ? indexes.map((index) => times[index]!) : times;
}

/** Times of day of a weekly, monthly or yearly rule, in ms. */
export function timesOf(rule: LongRule, start: number): number[] {
  return timesWithin(rule, DAY_MS, start);
}

function timesWithin({ lists }: RecurrenceRule, length: number, start: number): number[] {
  const at = new Date(start);
  const within = (name: string, of: number, own: number) => (of >= length ? [0] : (numbersOf(lists[name]) ?? [own]));
  const hours = within('BYHOUR', HOUR_MS, at.getUTCHours());
  const minutes = within('BYMINUTE', MINUTE_MS, at.getUTCMinutes());
  return [...products(hours, minutes, within('BYSECOND', SECOND_MS, at.getUTCSeconds()))];
}

/** The days of a rule grouped by period, without empty periods. Starts at the first day of a period. */
export function* periodsFrom(
  rule: LongRule,
  first: number,
  lastYear: number,
  daysOf: DaysOfYear,
): Generator<{ period: number; days: number[] }> {
  let period = Number.NaN;
  let days: number[] = [];
  for (const day of daysFrom(first, lastYear, daysOf)) {
    const own = periodOf(rule, day);
    if (own !== period) {
      if (days.length > 0) yield { period, days };
      period = own;
      days = [];
    }
    days.push(day);
  }
  if (days.length > 0) yield { period, days };
}

/** The dates of one period after BYSETPOS, ascending. */
export function* chosen(rule: LongRule, days: readonly number[], times: readonly number[]): Generator<number> {
  const indexes = indexesOf(rule, days.length * times.length);
  if (indexes === null) {
    for (const day of days) for (const time of times) yield day * DAY_MS + time;
    return;
  }
  for (const index of indexes) {
    yield days[Math.floor(index / times.length)]! * DAY_MS + times[index % times.length]!;
  }
}

function indexesOf({ lists }: RecurrenceRule, size: number): number[] | null {
  const positions = lists['BYSETPOS']?.map(Number);
  if (!positions) return null;
  const indexes = positions.map((position) => (position > 0 ? position - 1 : size + position));
  return ascending(indexes.filter((index) => index >= 0 && index < size));
}

/** The first day of a day's period, as a day number since 1970. */
export function firstDayOf(rule: LongRule, day: number): number {
  if (rule.frequency === 'WEEKLY') return periodOf(rule, day) * 7 + weekOffset(rule.weekStart);
  const date = new Date(day * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), rule.frequency === 'YEARLY' ? 0 : date.getUTCMonth(), 1) / DAY_MS;
}

function periodOf(rule: LongRule, day: number): number {
  if (rule.frequency === 'WEEKLY') return Math.floor((day - weekOffset(rule.weekStart)) / 7);
  const date = new Date(day * DAY_MS);
  return rule.frequency === 'YEARLY' ? date.getUTCFullYear() : date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

function* products(hours: readonly number[], minutes: readonly number[], seconds: readonly number[]) {
  for (const hour of hours) {
    for (const minute of minutes) {
      for (const second of seconds) yield hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS;
    }
  }
}

function numbersOf(list: readonly string[] | undefined): number[] | null {
  return list ? ascending(list.map(Number)) : null;
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}
