import { DAY_MS } from '../common/durations.ts';
import { instantOf, wallClockAt } from '../common/time-zone.ts';
import { occurrences } from './occurrences.ts';
import { LAST_DATE } from './plan.ts';
import type { RecurrenceRule, RuleEnd } from './recurrence-rule.ts';
import type { DaysOfYear } from './rule-days.ts';
import { SHORTEST_GAP_MS } from './rule-frequency.ts';

export interface RuleSchedule {
  rule: RecurrenceRule;
  /** DTSTART: always a date, even if it does not match the rule, and the first one of COUNT. */
  start: Date;
  /** IANA name of the zone for BY parts, the start and UNTIL without Z. */
  timezone: string;
  daysOf: DaysOfYear;
  /** Whether the start was planned ahead, so that the next date must be at least seven days later. */
  isStartPlanned: boolean;
}

/** Distinct, ascending, before {@link LAST_DATE}. Dates omitted for being close to the start do not count for COUNT. */
export function* datesOf(schedule: RuleSchedule, after: Date): Generator<Date> {
  const { rule, start, timezone, isStartPlanned } = schedule;
  let count = 1;
  if (start > after) yield start;
  if (count === rule.count) return;
  const earliest = wallClockAt(timezone, start.getTime()) + (isStartPlanned ? SHORTEST_GAP_MS : 1);
  // COUNT includes all dates since the start. Local time differs from UTC by less than two days.
  const from = rule.count === null ? Math.max(earliest, after.getTime() - 2 * DAY_MS) : earliest;
  let last = start.getTime();
  for (const date of ruleDates(schedule, from)) {
    // A skipped local time and an existing one may be the same instant.
    if (date.getTime() <= last) continue;
    last = date.getTime();
    if (date > after) yield date;
    count += 1;
    if (count === rule.count) return;
  }
}

/** Whether any date matches the rule; the start only counts if it does. */
export function hasRuleDate(schedule: RuleSchedule): boolean {
  const from = wallClockAt(schedule.timezone, schedule.start.getTime());
  return !ruleDates(schedule, from).next().done;
}

/** The instant after which a rule has no date. */
export function endOf({ time, isLocal }: RuleEnd, timezone: string): Date {
  return new Date(isLocal ? instantOf(timezone, time) : time);
}

function* ruleDates({ rule, start, timezone, daysOf }: RuleSchedule, from: number): Generator<Date> {
  const { until } = rule;
  for (const wall of occurrences(rule, wallClockAt(timezone, start.getTime()), from, daysOf)) {
    if (wall < from) continue;
    const instant = instantOf(timezone, wall);
    if (instant >= LAST_DATE.getTime() || (until && (until.isLocal ? wall : instant) > until.time)) return;
    yield new Date(instant);
  }
}
