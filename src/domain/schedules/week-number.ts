import { DAY_MS } from '../common/durations.ts';
import { WEEKDAYS, type Weekday } from './recurrence-rule.ts';

/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 3;

/**
 * Whether a date lies in one of the given weeks of its year. The first week is the first with at least four days in the
 * year, so that early January may belong to the last week of the previous year.
 * @param numbers - from 1, or from -1 counted from the end of the year
 * @param start - first day of each week
 * @see RFC 5545 3.3.10, BYWEEKNO
 */
export function isInWeeks(date: Date, numbers: readonly number[], start: Weekday): boolean {
  const day = Math.floor(date.getTime() / DAY_MS);
  // Days before the epoch are negative, and so are their remainders.
  const sinceStart = (((day + EPOCH_WEEKDAY - WEEKDAYS.indexOf(start)) % 7) + 7) % 7;
  // A week belongs to the year of its fourth day.
  const fourth = day - sinceStart + 3;
  const year = new Date(fourth * DAY_MS).getUTCFullYear();
  const firstDay = Date.UTC(year, 0, 1) / DAY_MS;
  const lastDay = Date.UTC(year + 1, 0, 1) / DAY_MS - 1;
  const number = Math.floor((fourth - firstDay) / 7) + 1;
  const fromEnd = -Math.floor((lastDay - fourth) / 7) - 1;
  return numbers.includes(number) || numbers.includes(fromEnd);
}
