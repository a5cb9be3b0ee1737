import { DAY_MS, MINUTE_MS } from '../common/durations.ts';
import { changeBefore, instantOf, isUtc, wallClockAt } from '../common/time-zone.ts';
import { lastCalendarDate, nextCalendarDate } from './calendar-dates.ts';
import type { CalendarTimes } from './profile-schedule.ts';
import { LAST_DATE } from './plan.ts';

/** Calendars in local time. A skipped or repeated time occurs once. */
export interface ZonedCalendars {
  calendars: readonly CalendarTimes[];
  timezone: string;
}

/** The first date strictly after a moment; null if none before {@link LAST_DATE}. */
export function nextZonedDate({ calendars, timezone }: ZonedCalendars, after: Date): Date | null {
  if (isUtc(timezone)) return nextCalendarDate(calendars, after);
  let found: number | null = null;
  let next = nextCalendarDate(calendars, new Date(earliestWall(timezone, after.getTime()) - MINUTE_MS));
  while (next !== null && (found === null || next.getTime() <= wallClockAt(timezone, found))) {
    const instant = instantOf(timezone, next.getTime());
    if (instant > after.getTime() && (found === null || instant < found)) found = instant;
    next = nextCalendarDate(calendars, next);
  }
  return found === null || found >= LAST_DATE.getTime() ? null : new Date(found);
}

/** Up to `limit` dates strictly after a moment. */
export function nextZonedDates(zoned: ZonedCalendars, after: Date, limit: number): Date[] {
  const dates: Date[] = [];
  for (let next = nextZonedDate(zoned, after); next && dates.length < limit; next = nextZonedDate(zoned, next)) {
    dates.push(next);
  }
  return dates;
}

/** The last date after `after`, up to and including `until`; null for none. */
export function lastZonedDate({ calendars, timezone }: ZonedCalendars, after: Date, until: Date): Date | null {
  if (isUtc(timezone)) return lastCalendarDate(calendars, after, until);
  const floor = new Date(wallClockAt(timezone, after.getTime()) - DAY_MS);
  let found: number | null = null;
  // Clocks that were set back have already shown later times.
  const repeated = Math.max(0, -changeBefore(timezone, until.getTime()));
  const top = new Date(wallClockAt(timezone, until.getTime()) + repeated);
  let last = lastCalendarDate(calendars, floor, top);
  while (last !== null && (found === null || last.getTime() > earliestWall(timezone, found))) {
    const instant = instantOf(timezone, last.getTime());
    if (instant <= until.getTime() && instant > after.getTime() && (found === null || instant > found)) found = instant;
    last = lastCalendarDate(calendars, floor, new Date(last.getTime() - MINUTE_MS));
  }
  return found === null ? null : new Date(found);
}

/** The earliest local time that may denote an instant: the current one, or the one without the last gap. */
function earliestWall(timezone: string, instant: number): number {
  return wallClockAt(timezone, instant) - Math.max(0, changeBefore(timezone, instant));
}

/** The earliest next run, `ms` later in local time; earlier after a gap: the previous run may have had a skipped time. */
export function earliestAfter(timezone: string, run: Date, ms: number): Date {
  return new Date(instantOf(timezone, earliestWall(timezone, run.getTime()) + ms));
}
