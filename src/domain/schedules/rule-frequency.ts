import { DAY_MS } from '../common/durations.ts';
import { allowedTimes, chosen, firstDayOf, offsetsOf, periodsFrom, timeFilter, timesOf } from './occurrences.ts';
import { isShort, type LongRule, PERIOD_MS, type RecurrenceRule, type ShortRule } from './recurrence-rule.ts';
import { type DaysOfYear, daysFrom } from './rule-days.ts';

/** Minimum local time between two dates of a rule. */
export const SHORTEST_GAP_MS = 7 * DAY_MS;

/** `never`: it has no date for any start. */
type RuleFrequency = 'never' | 'too-often' | 'weekly-at-most';

/** Start of a 28-year cycle with every kind of year next to each possible neighbor; century years add no other gaps. */
const FIRST_YEAR = 2001;
const LAST_YEAR = FIRST_YEAR + 29;
/** Excludes the incomplete last week. */
const END = Date.UTC(LAST_YEAR, 11, 1);
const BEGIN_DAY = Date.UTC(FIRST_YEAR, 0, 7) / DAY_MS;

/** For any start and offset of INTERVAL, without COUNT and UNTIL; some hundred thousand steps at most. */
export function frequencyOf(rule: RecurrenceRule, daysOf: DaysOfYear): RuleFrequency {
  return isShort(rule) ? frequencyOfShort(rule, daysOf) : frequencyOfLong(rule, daysOf);
}

function frequencyOfLong(rule: LongRule, daysOf: DaysOfYear): RuleFrequency {
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

/** Two periods can occur together, for some start, if their distance is a multiple of the interval. */
function frequencyOfShort(rule: ShortRule, daysOf: DaysOfYear): RuleFrequency {
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
