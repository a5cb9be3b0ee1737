import { cronCalendars, isCronProblem, parseCron } from '../../domain/schedules/cron.ts';
import { nextZonedDate, type ZonedCalendars } from '../../domain/schedules/zoned-dates.ts';

interface CronInZone {
  interval: string;
  timezone: string;
}

/** @throws when the stored text is not valid */
export function zonedCalendars({ interval, timezone }: CronInZone): ZonedCalendars {
  const cron = parseCron(interval);
  if (isCronProblem(cron)) throw new SyntaxError(`a stored cron text ${cron.problem}`);
  return { calendars: cronCalendars(cron), timezone };
}

/** Dates of a recurring trigger are strictly later than this moment; its start may be the first date. */
export function firstDateAfter(startAfter: Date, now: Date): Date {
  return new Date(Math.max(startAfter.getTime() - 1, now.getTime()));
}

const MAX_CACHED = 10_000;
/** Latest results by time zone and cron text; `next` is valid for moments from `after` until then. */
const cache = new Map<string, { after: number; next: Date | null }>();

/** The next date strictly after a moment, or null. Cached, because every page of profiles needs it. */
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
