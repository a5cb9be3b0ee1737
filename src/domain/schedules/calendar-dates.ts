import { DAY_MS, MINUTE_MS } from '../common/durations.ts';
import type { CalendarTimes } from './profile-schedule.ts';
import { LAST_DATE } from './plan.ts';

/** The first match strictly after `after`, in UTC minutes; null if none before {@link LAST_DATE}. Takes < 1 ms. */
export function nextCalendarDate(calendars: readonly CalendarTimes[], after: Date): Date | null {
  let found: number | null = null;
  for (const calendar of calendars) {
    const before: number = found ?? LAST_DATE.getTime();
    found = search(calendar, Math.floor(after.getTime() / MINUTE_MS) * MINUTE_MS + MINUTE_MS, before) ?? found;
  }
  return found === null ? null : new Date(found);
}

/** The last match after `after`, up to and including `until`; null for none. */
export function lastCalendarDate(calendars: readonly CalendarTimes[], after: Date, until: Date): Date | null {
  let floor = after.getTime();
  let last: Date | null = null;
  for (const calendar of calendars) {
    const found = searchBack(calendar, until.getTime(), floor);
    if (found === null) continue;
    floor = found;
    last = new Date(found);
  }
  return last;
}

function search(calendar: CalendarTimes, from: number, before: number): number | null {
  let day = startOfDay(from);
  while (day < before) {
    const date = new Date(day);
    if (!hasMonth(calendar, date)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
      continue;
    }
    if (hasDay(calendar, date)) {
      const time = timesOf(calendar).find((offset) => day + offset >= from);
      if (time !== undefined) return day + time < before ? day + time : null;
    }
    day += DAY_MS;
  }
  return null;
}

function searchBack(calendar: CalendarTimes, until: number, after: number): number | null {
  let day = startOfDay(until);
  while (day + DAY_MS > after) {
    const date = new Date(day);
    if (!hasMonth(calendar, date)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) - DAY_MS;
      continue;
    }
    if (hasDay(calendar, date)) {
      const time = timesOf(calendar).findLast((offset) => day + offset <= until);
      if (time !== undefined) return day + time > after ? day + time : null;
    }
    day -= DAY_MS;
  }
  return null;
}

function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

function hasMonth({ months }: CalendarTimes, date: Date): boolean {
  return months === null || months.includes(date.getUTCMonth() + 1);
}

function hasDay({ daysOfMonth, daysOfWeek }: CalendarTimes, date: Date): boolean {
  return (
    (daysOfMonth === null || daysOfMonth.includes(date.getUTCDate())) &&
    (daysOfWeek === null || daysOfWeek.includes(date.getUTCDay()))
  );
}

const times = new WeakMap<CalendarTimes, readonly number[]>();

/** Times of day in ms since midnight, ascending. */
function timesOf(calendar: CalendarTimes): readonly number[] {
  const known = times.get(calendar);
  if (known) return known;
  const made = calendar.hours.flatMap((hour) => calendar.minutes.map((minute) => (hour * 60 + minute) * MINUTE_MS));
  times.set(calendar, made);
  return made;
}
