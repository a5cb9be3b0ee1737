// A CommonJS package: its named exports are not visible to an import.
import rrule, { type Options } from 'rrule';
import { DAY_MS } from '../../domain/common/durations.ts';
import { type RecurrenceRule, WEEKDAYS, type Weekday } from '../../domain/schedules/recurrence-rule.ts';
import { type DayParts, type DaysOfYear, dayParts, isInWeeks } from '../../domain/schedules/rule-days.ts';

const { RRule } = rrule;

/** An interval that ends after one year: the library stops at the year 9999. */
const ONE_YEAR_ONLY = 9999;
const MOST_IN_YEAR = 53;
const MOST_IN_MONTH = 5;

/**
 * The days of a year that a rule allows for a start (local time, in ms as if in UTC). Unlike the rrule library,
 * called once per kind of year, handles BYWEEKNO at the turn of a year and mixed weekdays with and without numbers.
 */
export function daysOfYear(rule: RecurrenceRule, start: number): DaysOfYear {
  const parts = dayParts(rule, start);
  const options = toOptions(parts);
  const known = new Map<string, readonly number[]>();
  return (year) => {
    const kind = kindOf(year);
    const days = known.get(kind) ?? findDays(parts, options, rule.weekStart, year);
    known.set(kind, days);
    return days;
  };
}

/** Only the first weekday and the leap years around it determine the days of a rule. */
function kindOf(year: number): string {
  const isLeap = (of: number) => new Date(Date.UTC(of, 1, 29)).getUTCMonth() === 1;
  const newYear = new Date(Date.UTC(year, 0, 1));
  return [newYear.getUTCDay(), isLeap(year - 1), isLeap(year), isLeap(year + 1)].join();
}

function findDays(parts: DayParts, options: Partial<Options>, weekStart: Weekday, year: number): number[] {
  const newYear = Date.UTC(year, 0, 1);
  const dates = new RRule({ ...options, dtstart: new Date(newYear) }, true).all();
  const { weeks } = parts;
  return dates
    .filter((date) => weeks === null || isInWeeks(date, weeks, weekStart))
    .map((date) => (date.getTime() - newYear) / DAY_MS);
}

function toOptions({ months, monthDays, yearDays, weekdays, isOrdinalOfMonth }: DayParts): Partial<Options> {
  const hasNumbers = weekdays?.some(({ ordinal }) => ordinal !== 0) ?? false;
  // Without a selection of days the library would use the first of January.
  const days = weekdays ?? (monthDays || yearDays ? null : EVERY_DAY);
  return {
    freq: RRule.YEARLY,
    interval: ONE_YEAR_ONLY,
    byhour: 0,
    byminute: 0,
    bysecond: 0,
    // With numbered weekdays, a list of months makes the library count within months.
    bymonth: months.length < 12 || (hasNumbers && isOrdinalOfMonth) ? [...months] : null,
    bymonthday: monthDays && [...monthDays],
    byyearday: yearDays && [...yearDays],
    byweekday: days?.flatMap((entry) => libraryDays(entry, hasNumbers, isOrdinalOfMonth)) ?? null,
  };
}

const EVERY_DAY: NonNullable<DayParts['weekdays']> = WEEKDAYS.map((day) => ({ day, ordinal: 0 }));

/** The library does not mix weekdays with and without numbers: the latter get all numbers. */
function libraryDays(
  { day, ordinal }: { day: Weekday; ordinal: number },
  hasNumbers: boolean,
  isOrdinalOfMonth: boolean,
) {
  if (!hasNumbers) return [RRule[day]];
  if (ordinal !== 0) return [RRule[day].nth(ordinal)];
  const most = isOrdinalOfMonth ? MOST_IN_MONTH : MOST_IN_YEAR;
  return Array.from({ length: most }, (_, n) => RRule[day].nth(n + 1));
}
