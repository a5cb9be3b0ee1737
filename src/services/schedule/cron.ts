import { CronExpressionParser } from 'cron-parser';
import { nextCalendarDate } from '../../domain/schedule/calendar-dates.ts';
import { splitCron } from '../../domain/schedule/cron-fields.ts';
import type { CalendarTimes } from '../../domain/schedule/desired-schedule.ts';

const EVERY: readonly string[] = ['*', '*', '*', '*', '*'];
const NAMES = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const;
const KEPT = 1_000;
const kept = new Map<string, CalendarTimes[]>();

/**
 * Reads cron text of five fields, in UTC. Where both the day of the month and the day of the week are restricted
 * (anything but `*`), either may match: these are two calendars.
 *
 * @returns null when it is none, or never has a date
 * @remarks The text is checked before the library sees it: that fills up missing fields and knows more than cron does.
 * It refuses values that are named twice, so it is given the items of lists one by one.
 * @see api-decisions 6.2; mission-and-ecosystem 3.3
 */
export function readCron(text: string): CalendarTimes[] | null {
  const known = kept.get(text);
  if (known) return known;
  const calendars = parse(text);
  if (calendars === null || calendars.length === 0) return null;
  if (kept.size >= KEPT) kept.clear();
  kept.set(text, calendars);
  return calendars;
}

function parse(text: string): CalendarTimes[] | null {
  const fields = splitCron(text);
  if (fields === null) return null;
  const values = fields.map((items, place) => items.map((item) => valuesOf(place, item)));
  if (values.some((lists) => lists.includes(null))) return null;
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = values.map((lists) => distinct(lists.flat()));
  const times = { minutes: minutes!, hours: hours!, months: months! };
  const isAny = (place: number) => fields[place]!.length === 1 && fields[place]![0] === '*';
  const byMonthDay = { ...times, daysOfMonth: daysOfMonth!, daysOfWeek: null };
  const byWeekday = { ...times, daysOfMonth: null, daysOfWeek: daysOfWeek! };
  const all = isAny(2) ? [byWeekday] : isAny(4) ? [byMonthDay] : [byMonthDay, byWeekday];
  return all.filter((calendar) => nextCalendarDate([calendar], new Date(0)) !== null);
}

function distinct(values: ReadonlyArray<number | null>): number[] {
  return [...new Set(values)].filter((value) => value !== null).sort((a, b) => a - b);
}

/** Values of one item of a list; null when they are out of range. */
function valuesOf(place: number, item: string): number[] | null {
  const expression = EVERY.with(place, item).join(' ');
  try {
    const { fields } = CronExpressionParser.parse(expression, { tz: 'UTC' });
    return fields[NAMES[place]!].values.map((value) => (place === 4 ? Number(value) % 7 : Number(value)));
  } catch {
    return null;
  }
}
