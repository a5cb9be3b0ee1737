import { DAY_MS } from '../common/durations.ts';
import { allowedTimes, chosen, firstDayOf, offsetsOf, periodsFrom, timeFilter, timesOf } from './occurrences.ts';
import { isShort, type LongRule, PERIOD_MS, type RecurrenceRule, type ShortRule } from './recurrence-rule.ts';
import { type DaysOfYear, daysFrom } from './rule-days.ts';

/** Neighbouring dates of a rule are at least this far apart, by what clocks show. */
export const SHORTEST_GAP_MS = 7 * DAY_MS;

/** `never`: it has no date, whenever it starts. */
export type RuleFrequency = 'never' | 'too-often' | 'weekly-at-most';

/**
 * A whole cycle of the calendar: in 28 years every kind of year (its first weekday, its length, those of its neighbours)
 * has each of its neighbours once. Years that end a century and are no leap years bring no other pair of dates.
 */
const FIRST_YEAR = 2001;
const LAST_YEAR = FIRST_YEAR + 29;
/** The last week of the last year is cut off. */
const END = Date.UTC(LAST_YEAR, 11, 1);
const BEGIN_DAY = Date.UTC(FIRST_YEAR, 0, 7) / DAY_MS;

/**
 * How often a rule has dates, judged by all dates that it can have: over a whole cycle of the calendar, in whichever of
 * its periods INTERVAL begins to count, and without COUNT and UNTIL. The start does not matter: what a rule takes from
 * it is one weekday, day or time.
 * @param daysOf - the days that the rule allows, for any start
 * @remarks Bounded whatever the rule: some hundred thousand steps.
 */
export function frequencyOf(rule: RecurrenceRule, daysOf: DaysOfYear): RuleFrequency {
  return isShort(rule) ? judgeShort(rule, daysOf) : judgeLong(rule, daysOf);
}

function judgeLong(rule: LongRule, daysOf: DaysOfYear): RuleFrequency {
  const times = timesOf(rule, 0);
  let last: number | null = null;
  let isNever = true;
  for (const { days } of periodsFrom(rule, firstDayOf(rule, BEGIN_DAY), LAST_YEAR, daysOf)) {
    // With a longer interval the next period is more than a week away.
    if (rule.interval > 1) last = null;
    for (const date of chosen(rule, days, times)) {
      if (date >= END) break;
      if (last !== null && date - last < SHORTEST_GAP_MS) return 'too-often';
      last = date;
      isNever = false;
    }
  }
  return isNever ? 'never' : 'weekly-at-most';
}

/** Any two periods are both of the rule for some start when they are a multiple of the interval apart. */
function judgeShort(rule: ShortRule, daysOf: DaysOfYear): RuleFrequency {
  const offsets = offsetsOf(rule, 0);
  const distances = dayDistances(daysOf);
  if (offsets.length === 0 || distances.size === 0) return 'never';
  if (offsets.length > 1) return 'too-often';
  const isAllowed = timeFilter(rule);
  const step = rule.interval * PERIOD_MS[rule.frequency];
  for (let gap = step; gap < SHORTEST_GAP_MS; gap += step) {
    for (const time of allowedTimes(rule)) {
      const other = time + gap;
      if (distances.has(Math.floor(other / DAY_MS)) && isAllowed(other % DAY_MS)) return 'too-often';
    }
  }
  return 'weekly-at-most';
}

/** Distances up to a week between two days that a rule allows, in days; 0 where it allows any. */
function dayDistances(daysOf: DaysOfYear): ReadonlySet<number> {
  const distances = new Set<number>();
  let latest: number[] = [];
  for (const day of daysFrom(BEGIN_DAY, LAST_YEAR, daysOf)) {
    latest = [...latest.filter((other) => day - other <= 7), day];
    for (const other of latest) distances.add(day - other);
    if (distances.size === 8) break;
  }
  return distances;
}
