import { CronExpressionParser } from 'cron-parser';
import { isCronProblem, parseCron, plainCron } from '../../domain/schedule/cron.ts';
import { LAST_DATE } from '../../domain/schedule/plan.ts';

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

const MAX_KNOWN = 10_000;
/** Latest answers by cron text: the next date after every moment between the two. */
const known = new Map<string, { after: number; next: Date | null }>();

/** The next date of a cron text strictly after a moment, or null; what a page of profiles asks for again is remembered. */
export function nextCronDate(text: string, after: Date): Date | null {
  const moment = after.getTime();
  const answer = known.get(text);
  if (answer && answer.after <= moment && (answer.next === null || answer.next.getTime() > moment)) return answer.next;
  const next = cronDates(text, after, 1)[0] ?? null;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(text, { after: moment, next });
  return next;
}
