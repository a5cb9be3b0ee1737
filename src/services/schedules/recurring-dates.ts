import { DomainError } from '../../domain/common/errors.ts';
import { FIRST_DATE, LAST_DATE, PLANNED_DATES } from '../../domain/schedules/plan.ts';
import { isProblem, parseRule, type RecurrenceRule } from '../../domain/schedules/recurrence-rule.ts';
import { datesOf, endOf, hasRuleDate, type RuleSchedule } from '../../domain/schedules/rule-dates.ts';
import { frequencyOf } from '../../domain/schedules/rule-frequency.ts';
import { wallClockAt } from '../../domain/common/time-zone.ts';
import type { UsgProfile } from '../../persistence/compliance/usg-profile.entity.ts';
import { fieldError } from '../common/fields.ts';
import { daysOfYear } from './year-days.ts';
import { parseInstant } from '../../domain/common/instant.ts';

const FIELD = 'body.schedule';

/** The fields that determine a profile's dates. A start before creation ran at once; a later one is a date itself. */
type ProfileSchedule = Pick<UsgProfile, 'schedule' | 'timezone' | 'startDate' | 'creationTime'>;

/** @throws {DomainError} InvalidParameter, also without a date from `now` on; IntervalTooShort below a week */
export function planRequested(profile: ProfileSchedule, now: Date, { change }: { change: boolean }): Date[] {
  const rule = parseRule(profile.schedule);
  if (isProblem(rule)) throw fieldError(FIELD, rule.message);
  if (rule.until !== null && endOf(rule.until, profile.timezone) < now) {
    throw fieldError(FIELD, 'must not end in the past');
  }
  const schedule = toSchedule(rule, profile);
  const frequency = frequencyOf(rule, schedule.daysOf);
  if (frequency === 'too-often') throw tooOften();
  if (frequency === 'never' || (rule.count !== 1 && !hasRuleDate(schedule))) {
    throw fieldError(FIELD, 'has no date before the year 2100');
  }
  const dates = take(datesOf(schedule, now), PLANNED_DATES);
  if (dates.length > 0 || (!change && isStartAlone(schedule))) return dates;
  throw fieldError(FIELD, 'has no future date');
}

/** Up to {@link PLANNED_DATES} dates after `now`, ascending and distinct. @throws when the stored rule is invalid */
export function planDates(profile: ProfileSchedule, now: Date): Date[] {
  const rule = parseRule(profile.schedule);
  if (isProblem(rule)) throw new SyntaxError(`a stored schedule is no rule: ${rule.message}`);
  return take(datesOf(toSchedule(rule, profile), now), PLANNED_DATES);
}

function toSchedule(rule: RecurrenceRule, profile: ProfileSchedule): RuleSchedule {
  const { timezone, startDate: start, creationTime } = profile;
  const daysOf = daysOfYear(rule, wallClockAt(timezone, start.getTime()));
  return { rule, start, timezone, daysOf, isStartPlanned: start > creationTime };
}

function isStartAlone(schedule: RuleSchedule): boolean {
  return datesOf(schedule, schedule.start).next().done === true;
}

function take(dates: Iterable<Date>, limit: number): Date[] {
  const taken: Date[] = [];
  for (const date of dates) {
    taken.push(date);
    if (taken.length === limit) break;
  }
  return taken;
}

function tooOften(): DomainError {
  const message = 'must not be more frequent than weekly';
  return new DomainError('IntervalTooShort', `${FIELD} ${message}`, { details: [{ path: FIELD, message }] });
}

/** Reads a start time in whole seconds. @throws {DomainError} InvalidParameter */
export function readScheduleMoment(path: string, text: string): Date {
  const moment = parseInstant(text);
  if (moment === null || moment < FIRST_DATE || moment >= LAST_DATE) {
    throw fieldError(path, 'must be an ISO 8601 date and time between 1900 and 2099');
  }
  moment.setUTCMilliseconds(0);
  return moment;
}
