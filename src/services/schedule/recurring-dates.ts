import { DomainError } from '../../domain/errors.ts';
import { isTooOften, JUDGED_DATES, JUDGED_YEARS, LAST_DATE, PLANNED_DATES } from '../../domain/schedule/plan.ts';
import { isImpossible } from '../../domain/schedule/possible-dates.ts';
import { isProblem, parseRule, type RecurrenceRule } from '../../domain/schedule/recurrence-rule.ts';
import { refusedField } from '../fields.ts';
import type { Recurrences } from '../ports.ts';

const FIELD = 'body.schedule';

/**
 * Reads and judges the schedule of a request.
 *
 * @param startDate - as for {@link planDates}
 * @returns the dates of {@link planDates}
 * @throws {DomainError} InvalidParameter when it is no rule, ended before `now`, never has a date or has dates that are
 * not found in time; IntervalTooShort when two of its dates are closer than a week
 * @see api-decisions 5.2
 */
export async function planRequested(
  recurrences: Recurrences,
  schedule: string,
  startDate: Date,
  now: Date,
): Promise<Date[]> {
  const rule = await checkSchedule(recurrences, schedule, startDate, now);
  const dates = await datesAhead(recurrences, rule, startDate, now);
  if (dates === 'too-long') throw refusedField(FIELD, 'has dates too rare to be found in time');
  return dates;
}

async function checkSchedule(recurrences: Recurrences, text: string, anchor: Date, now: Date): Promise<RecurrenceRule> {
  const rule = parseRule(text);
  if (isProblem(rule)) throw rule.kind === 'too-often' ? tooOften() : refusedField(FIELD, rule.message);
  if (rule.until !== null && rule.until < now) throw refusedField(FIELD, 'must not end in the past');
  const neverMessage = `has no date within ${JUDGED_YEARS} years`;
  if (isImpossible(rule)) throw refusedField(FIELD, neverMessage);
  // The start is its only date.
  if (rule.count === 1) return rule;
  const before = new Date(anchor);
  before.setUTCFullYear(before.getUTCFullYear() + JUDGED_YEARS);
  const query = { anchor, after: new Date(anchor.getTime() - 1), before, limit: JUDGED_DATES, ruleAlone: true };
  const dates = await recurrences.expand(rule, query);
  if (dates === 'too-long' || dates.length === 0) throw refusedField(FIELD, neverMessage);
  if (isTooOften(dates)) throw tooOften();
  return rule;
}

/**
 * The dates of a profile after `now`: what its schedule on the server, `next_run_time` and every refill are made of.
 *
 * @param schedule - a rule that was checked when it was stored
 * @param startDate - a date of its own, on the rule or not, as long as it is ahead; the first of a COUNT in any case
 * @returns at most {@link PLANNED_DATES}, ascending, each once
 * @throws when the dates were not found in time
 * @see api-decisions 5.2
 */
export async function planDates(
  recurrences: Recurrences,
  schedule: string,
  startDate: Date,
  now: Date,
): Promise<Date[]> {
  const rule = parseRule(schedule);
  if (isProblem(rule)) throw new Error(`a stored schedule is no rule: ${rule.message}`);
  const dates = await datesAhead(recurrences, rule, startDate, now);
  if (dates === 'too-long') throw new Error('the dates of a stored schedule were not found in time');
  return dates;
}

async function datesAhead(
  recurrences: Recurrences,
  rule: RecurrenceRule,
  startDate: Date,
  now: Date,
): Promise<Date[] | 'too-long'> {
  const after = startDate > now ? startDate : now;
  const first = startDate > now ? [startDate] : [];
  if (rule.count === 1) return first;
  const query = { anchor: startDate, after, before: LAST_DATE, limit: PLANNED_DATES - first.length };
  const dates = await recurrences.expand(rule, query);
  return dates === 'too-long' ? dates : [...first, ...dates];
}

function tooOften(): DomainError {
  const message = 'must not be more frequent than weekly';
  return new DomainError('IntervalTooShort', `${FIELD} ${message}`, { details: [{ path: FIELD, message }] });
}
