import { cronCalendars, isCronProblem, parseCron } from '../../domain/schedules/cron.ts';
import { nextZonedDate, type ZonedCalendars } from '../../domain/schedules/zoned-dates.ts';

/** Cron text and the time zone whose clocks it refers to. */
export interface CronInZone {
  interval: string;
  /** IANA name. */
  timezone: string;
}

/** @throws when the stored text is not valid */
export function zonedCalendars({ interval, timezone }: CronInZone): ZonedCalendars {
  const cron = parseCron(interval);
  if (isCronProblem(cron)) throw new Error(`a stored cron text ${cron.problem}`);
  return { calendars: cronCalendars(cron), timezone };
}

/** Dates of a recurring trigger lie strictly after this moment: its start is the first that may be one. */
export function firstDateAfter(startAfter: Date, now: Date): Date {
  return new Date(Math.max(startAfter.getTime() - 1, now.getTime()));
}

const MAX_CACHED = 10_000;
/** Latest results by time zone and cron text: `next` holds for every moment from `after` until then. */
const cache = new Map<string, { after: number; next: Date | null }>();

/** The next date of a cron text strictly after a moment, or null. Cached, because every page of profiles needs them. */
export function nextCronDate(cron: CronInZone, after: Date): Date | null {
  const moment = after.getTime();
  const key = `${cron.timezone} ${cron.interval}`;
  const cached = cache.get(key);
  if (cached && cached.after <= moment && (cached.next === null || cached.next.getTime() > moment)) return cached.next;
  const next = nextZonedDate(zonedCalendars(cron), after);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, { after: moment, next });
  return next;
}
