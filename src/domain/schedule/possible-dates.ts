import { DAY_MS } from '../durations.ts';
import { type RecurrenceRule, WEEKDAYS } from './recurrence-rule.ts';

/** A leap year and the longest year of weeks among them; nothing that a calendar has is missing here. */
const YEARS_LOOKED_AT = 28;

/**
 * Tells that a rule cannot have a date, as far as that can be seen without expanding it: no calendar has its days
 * (30 February), or its positions lie beyond every set they choose from.
 *
 * @remarks An expansion of such rules would search to the end of time. Some thousand steps whatever the rule; other
 * rules without dates are left to the time limit of the expansion.
 */
export function isImpossible({ frequency, lists }: RecurrenceRule): boolean {
  const largest = largestSet(frequency, lists);
  const positions = lists['BYSETPOS'] ?? [];
  if (positions.length > 0 && positions.every((position) => Math.abs(Number(position)) > largest)) return true;
  if (!['BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO'].some((name) => lists[name])) return false;
  for (let day = Date.UTC(2000, 0, 1); day < Date.UTC(2000 + YEARS_LOOKED_AT, 0, 1); day += DAY_MS) {
    if (mayBe(new Date(day), lists)) return false;
  }
  return true;
}

/** More than any period of the rule can hold, never less. */
function largestSet(frequency: RecurrenceRule['frequency'], lists: RecurrenceRule['lists']): number {
  const times = ['BYHOUR', 'BYMINUTE', 'BYSECOND'].reduce((all, name) => all * (lists[name]?.length ?? 1), 1);
  const weekdays = lists['BYDAY']?.length ?? 1;
  const days = { DAILY: 1, WEEKLY: weekdays, MONTHLY: 31, YEARLY: 366 }[frequency];
  return days * times;
}

/** Whether a day can be of the rule; weeks are numbered as they are for any first day of the week. */
function mayBe(day: Date, lists: RecurrenceRule['lists']): boolean {
  const year = day.getUTCFullYear();
  const month = day.getUTCMonth();
  const monthLength = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const yearLength = (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY_MS;
  const dayOfYear = (Date.UTC(year, month, day.getUTCDate()) - Date.UTC(year, 0, 1)) / DAY_MS + 1;
  const weekday = WEEKDAYS[(day.getUTCDay() + 6) % 7]!;
  return (
    holds(lists['BYMONTH'], (n) => n === month + 1) &&
    holds(lists['BYMONTHDAY'], (n) => n === day.getUTCDate() || n === day.getUTCDate() - monthLength - 1) &&
    holds(lists['BYYEARDAY'], (n) => n === dayOfYear || n === dayOfYear - yearLength - 1) &&
    holds(lists['BYWEEKNO'], (n) => isAbout(n, dayOfYear)) &&
    (lists['BYDAY']?.some((entry) => entry.endsWith(weekday)) ?? true)
  );
}

function holds(list: readonly string[] | undefined, is: (entry: number) => boolean): boolean {
  return list?.some((entry) => is(Number(entry))) ?? true;
}

/** Week `n` lies around day `7 n`; a year's first and last days may belong to its neighbours' weeks. */
function isAbout(week: number, dayOfYear: number): boolean {
  const middle = week > 0 ? week * 7 - 3 : 366 + week * 7 + 3;
  const distance = Math.abs(dayOfYear - middle);
  return distance <= 10 || distance >= 355;
}
