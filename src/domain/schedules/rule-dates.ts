import { DAY_MS } from '../common/durations.ts';
import { instantOf, wallClockAt } from '../common/time-zone.ts';
import { occurrences } from './occurrences.ts';
import { LAST_DATE } from './plan.ts';
import type { RecurrenceRule, RuleEnd } from './recurrence-rule.ts';
import type { DaysOfYear } from './rule-days.ts';
import { SHORTEST_GAP_MS } from './rule-frequency.ts';

/** A rule with all that its dates depend on. */
export interface RuleSchedule {
  rule: RecurrenceRule;
  /** DTSTART: a date of its own, on the rule or not, and the first of COUNT. */
  start: Date;
  /** IANA name: what BY parts, the start and UNTIL without Z mean is what clocks there show. */
  timezone: string;
  /** The days that the rule allows, for this start. */
  daysOf: DaysOfYear;
  /** Whether the start was planned ahead, so that the next date must not be less than seven days after it. */
  isStartPlanned: boolean;
}

/**
 * The dates of a schedule after a moment and before {@link LAST_DATE}, ascending, each once.
 * @remarks Days and times are those that clocks in the time zone show, and so are the seven days between two dates: a
 * change of clocks may shorten them by as much. Dates left out for their distance to the start do not count for COUNT.
 */
export function* datesOf(schedule: RuleSchedule, after: Date): Generator<Date> {
  const { rule, start, timezone, isStartPlanned } = schedule;
  let count = 1;
  if (start > after) yield start;
  if (count === rule.count) return;
  const earliest = wallClockAt(timezone, start.getTime()) + (isStartPlanned ? SHORTEST_GAP_MS : 1);
  // What is counted is counted from the start. Clocks are never as far as two days from UTC.
  const from = rule.count === null ? Math.max(earliest, after.getTime() - 2 * DAY_MS) : earliest;
  let last = start.getTime();
  for (const date of ruleDates(schedule, from)) {
    // Two times that clocks skip and show may be one instant.
    if (date.getTime() <= last) continue;
    last = date.getTime();
    if (date > after) yield date;
    count += 1;
    if (count === rule.count) return;
  }
}

/** Whether any date is of the rule itself: the start alone is none unless it is on the rule. */
export function hasRuleDate(schedule: RuleSchedule): boolean {
  const from = wallClockAt(schedule.timezone, schedule.start.getTime());
  return !ruleDates(schedule, from).next().done;
}

/** The moment after which a rule has no date. */
export function endOf({ time, isLocal }: RuleEnd, timezone: string): Date {
  return new Date(isLocal ? instantOf(timezone, time) : time);
}

/** Dates of the rule from a time on that clocks show, whatever COUNT is, up to UNTIL. */
function* ruleDates({ rule, start, timezone, daysOf }: RuleSchedule, from: number): Generator<Date> {
  const { until } = rule;
  for (const wall of occurrences(rule, wallClockAt(timezone, start.getTime()), from, daysOf)) {
    if (wall < from) continue;
    const instant = instantOf(timezone, wall);
    if (instant >= LAST_DATE.getTime() || (until && (until.isLocal ? wall : instant) > until.time)) return;
    yield new Date(instant);
  }
}
