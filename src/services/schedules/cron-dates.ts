import { CronExpressionParser } from 'cron-parser';
import { isCronProblem, parseCron, plainCron } from '../../domain/schedules/cron.ts';
import { cronCalendars } from '../../domain/schedules/cron-calendars.ts';
import { LAST_DATE } from '../../domain/schedules/plan.ts';
import { nextZonedDate, type ZonedCalendars } from '../../domain/schedules/zoned-dates.ts';
import { isUtc } from '../../domain/common/time-zone.ts';

/**
 * The next dates of a cron text in UTC, strictly after a moment and before the year 2100.
 *
 * @param text - one that {@link parseCron} takes
 * @param limit - at most so many
 * @throws when the text is none
 */
export function cronDates(text: string, after: Date, limit: number): Date[] {
  const cron = parseCron(text);
  if (isCronProblem(cron)) throw new Error(`a stored cron text ${cron.problem}`);
  const dates: Date[] = [];
  if (after >= LAST_DATE) return dates;
  const expression = CronExpressionParser.parse(plainCron(cron), { tz: 'UTC', currentDate: after });
  while (dates.length < limit) {
    const date = expression.next().toDate();
    if (date >= LAST_DATE) break;
    dates.push(date);
  }
  return dates;
}

/** Cron text and the time zone whose clocks it means. */
export interface CronInZone {
  interval: string;
  /** IANA name. */
  timezone: string;
}

/** The calendars of stored cron text. @throws when it is none */
export function zonedCalendars({ interval, timezone }: CronInZone): ZonedCalendars {
  const cron = parseCron(interval);
  if (isCronProblem(cron)) throw new Error(`a stored cron text ${cron.problem}`);
  return { calendars: cronCalendars(cron), timezone };
}

/** The moment strictly after which the dates of a recurring trigger are: its start is the first that may be one. */
export function beginning(startAfter: Date, now: Date): Date {
  return new Date(Math.max(startAfter.getTime() - 1, now.getTime()));
}

const MAX_KNOWN = 10_000;
/** Latest answers by time zone and cron text: the next date after every moment between the two. */
const known = new Map<string, { after: number; next: Date | null }>();

/** The next date of a cron text strictly after a moment, or null; what a page of profiles asks for again is remembered. */
export function nextCronDate(cron: CronInZone, after: Date): Date | null {
  const moment = after.getTime();
  const key = `${cron.timezone} ${cron.interval}`;
  const answer = known.get(key);
  if (answer && answer.after <= moment && (answer.next === null || answer.next.getTime() > moment)) return answer.next;
  const next = isUtc(cron.timezone)
    ? (cronDates(cron.interval, after, 1)[0] ?? null)
    : nextZonedDate(zonedCalendars(cron), after);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, { after: moment, next });
  return next;
}
