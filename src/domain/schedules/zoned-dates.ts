import { DAY_MS, MINUTE_MS } from '../common/durations.ts';
import { changeBefore, instantOf, isUtc, wallClockAt } from '../common/time-zone.ts';
import { lastCalendarDate, nextCalendarDate } from './calendar-dates.ts';
import type { CalendarTimes } from './profile-schedule.ts';
import { LAST_DATE } from './plan.ts';

/** Calendars and the time zone whose clocks they mean. A time that clocks skip or show twice is a date once. */
export interface ZonedCalendars {
  calendars: readonly CalendarTimes[];
  /** IANA name. */
  timezone: string;
}

/** The first date strictly after a moment; null when there is none before {@link LAST_DATE}. */
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

/** The next dates strictly after a moment, at most `limit`. */
export function nextZonedDates(zoned: ZonedCalendars, after: Date, limit: number): Date[] {
  const dates: Date[] = [];
  for (let next = nextZonedDate(zoned, after); next && dates.length < limit; next = nextZonedDate(zoned, next)) {
    dates.push(next);
  }
  return dates;
}

/** The last date up to and including `until`; null when there is none after `after`. */
export function lastZonedDate({ calendars, timezone }: ZonedCalendars, after: Date, until: Date): Date | null {
  if (isUtc(timezone)) return lastCalendarDate(calendars, after, until);
  const floor = new Date(wallClockAt(timezone, after.getTime()) - DAY_MS);
  let found: number | null = null;
  // Clocks that were set back have shown later times already.
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

/** The earliest time that may stand for an instant: what clocks show then, or what they would show without the last gap. */
function earliestWall(timezone: string, instant: number): number {
  return wallClockAt(timezone, instant) - Math.max(0, changeBefore(timezone, instant));
}

/**
 * From when on a run may follow another: so many ms later by what clocks show. Within a day after clocks were set forward
 * it is as much sooner, for the run may be one whose time was skipped.
 */
export function earliestAfter(timezone: string, run: Date, ms: number): Date {
  return new Date(instantOf(timezone, earliestWall(timezone, run.getTime()) + ms));
}
