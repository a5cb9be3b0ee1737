import { DAY_MS } from '../common/durations.ts';
import { type RecurrenceRule, WEEKDAYS, type Weekday } from './recurrence-rule.ts';

/** The days of a year that a rule allows, from 0 for 1 January, ascending. */
export type DaysOfYear = (year: number) => readonly number[];

export interface DayParts {
  /** From 1. */
  months: readonly number[];
  /** From 1, or from -1 counted from the end of the month; null allows all. */
  monthDays: readonly number[] | null;
  yearDays: readonly number[] | null;
  /** Null allows all. `ordinal` counts within months if `isOrdinalOfMonth`, else within the year; 0 means every. */
  weekdays: readonly { day: Weekday; ordinal: number }[] | null;
  isOrdinalOfMonth: boolean;
  weeks: readonly number[] | null;
}

const ALL_MONTHS = Array.from({ length: 12 }, (_, month) => month + 1);

/** Completes weekly, monthly and yearly rules from the start (local ms as if in UTC) by RFC 5545 3.3.10. */
export function dayParts({ frequency, lists }: RecurrenceRule, start: number): DayParts {
  const date = new Date(start);
  const numbers = (name: string) => lists[name]?.map(Number) ?? null;
  const isYearly = frequency === 'YEARLY';
  const parts: DayParts = {
    months: numbers('BYMONTH') ?? ALL_MONTHS,
    monthDays: numbers('BYMONTHDAY'),
    yearDays: numbers('BYYEARDAY'),
    weekdays: lists['BYDAY']?.map(readWeekday) ?? null,
    isOrdinalOfMonth: !isYearly || lists['BYMONTH'] !== undefined,
    weeks: numbers('BYWEEKNO'),
  };
  if (parts.monthDays || parts.yearDays || parts.weekdays) return parts;
  if (frequency === 'WEEKLY' || parts.weeks) return { ...parts, weekdays: [{ day: weekdayOf(date), ordinal: 0 }] };
  if (!isYearly && frequency !== 'MONTHLY') return parts;
  const months = isYearly && !lists['BYMONTH'] ? [date.getUTCMonth() + 1] : parts.months;
  return { ...parts, months, monthDays: [date.getUTCDate()] };
}

function readWeekday(entry: string): { day: Weekday; ordinal: number } {
  return { day: entry.slice(-2) as Weekday, ordinal: Number(entry.slice(0, -2)) };
}

function weekdayOf(date: Date): Weekday {
  return WEEKDAYS[(date.getUTCDay() + 6) % 7]!;
}

/** Allowed days from one to the end of a year, as day numbers since 1970, ascending. */
export function* daysFrom(first: number, lastYear: number, daysOf: DaysOfYear): Generator<number> {
  for (let year = new Date(first * DAY_MS).getUTCFullYear(); year <= lastYear; year += 1) {
    const newYear = Date.UTC(year, 0, 1) / DAY_MS;
    for (const day of daysOf(year)) if (newYear + day >= first) yield newYear + day;
  }
}

/** The number since 1970 of a day on which weeks begin; 1 January 1970 was a Thursday. */
export function weekOffset(start: Weekday): number {
  return WEEKDAYS.indexOf(start) - 3;
}

/** Non-negative remainder, also for negative numbers. */
export function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** By BYWEEKNO of RFC 5545: from 1, or from -1 at the end; a week belongs to the year of its fourth day. */
export function isInWeeks(date: Date, numbers: readonly number[], start: Weekday): boolean {
  const day = Math.floor(date.getTime() / DAY_MS);
  const fourth = day - modulo(day - weekOffset(start), 7) + 3;
  const year = new Date(fourth * DAY_MS).getUTCFullYear();
  const firstDay = Date.UTC(year, 0, 1) / DAY_MS;
  const lastDay = Date.UTC(year + 1, 0, 1) / DAY_MS - 1;
  const number = Math.floor((fourth - firstDay) / 7) + 1;
  const fromEnd = -Math.floor((lastDay - fourth) / 7) - 1;
  return numbers.includes(number) || numbers.includes(fromEnd);
}
