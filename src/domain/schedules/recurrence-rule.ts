import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../common/durations.ts';
import { type RuleParts, readParts } from './rule-parts.ts';

/** In the order of ISO 8601. */
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

type LongFrequency = 'YEARLY' | 'MONTHLY' | 'WEEKLY';
/** Frequencies with periods of fixed length, up to a day. */
type ShortFrequency = 'DAILY' | 'HOURLY' | 'MINUTELY' | 'SECONDLY';
type Frequency = LongFrequency | ShortFrequency;

export type RecurrenceRule = LongRule | ShortRule;
export type LongRule = FrequencyRule<LongFrequency>;
export type ShortRule = FrequencyRule<ShortFrequency>;

interface FrequencyRule<F extends Frequency> {
  /** Upper case, without `RRULE:`, parts in the order given. */
  text: string;
  frequency: F;
  interval: number;
  count: number | null;
  until: RuleEnd | null;
  weekStart: Weekday;
  lists: Readonly<Record<string, readonly string[]>>;
}

export interface RuleEnd {
  /** In ms; local time as if in UTC when `isLocal`. */
  time: number;
  /** In the time zone of the rule, as dates and times without Z are. */
  isLocal: boolean;
}

interface RuleProblem {
  message: string;
}

export const PERIOD_MS: Readonly<Record<ShortFrequency, number>> = {
  DAILY: DAY_MS,
  HOURLY: HOUR_MS,
  MINUTELY: MINUTE_MS,
  SECONDLY: SECOND_MS,
};

const MAX_LENGTH = 1000;
/** For longer periods; shorter ones may span as many days. */
const MAX_INTERVAL = 3650;
/** Weekly for nearly two centuries. */
const MAX_COUNT = 9999;
const FREQUENCIES: readonly string[] = ['YEARLY', 'MONTHLY', 'WEEKLY', ...Object.keys(PERIOD_MS)];

/** Whether the periods of a rule have a fixed length of up to a day. */
export function isShort(rule: RecurrenceRule): rule is ShortRule {
  return rule.frequency in PERIOD_MS;
}

/** One RFC 5545 rule, in linear time, because rrule does not validate; DTSTART, EXDATE and TZID are rejected. */
export function parseRule(text: string): RecurrenceRule | RuleProblem {
  if (text.length > MAX_LENGTH) return invalid(`must not have more than ${MAX_LENGTH} characters`);
  const upper = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '');
  const parts = readParts(upper);
  if (typeof parts === 'string') return invalid(parts);
  const frequency = parts.get('FREQ')?.[0];
  if (frequency === undefined) return invalid('must have FREQ, such as FREQ=WEEKLY');
  if (!FREQUENCIES.includes(frequency)) return invalid(`FREQ must be one of ${FREQUENCIES.join(', ')}`);
  const perDay = DAY_MS / (PERIOD_MS[frequency as ShortFrequency] ?? DAY_MS);
  const interval = readNumber(parts, 'INTERVAL', MAX_INTERVAL * perDay);
  const count = readNumber(parts, 'COUNT', MAX_COUNT);
  const until = readUntil(parts.get('UNTIL')?.[0]);
  for (const problem of [interval, count, until]) if (typeof problem === 'string') return invalid(problem);
  if (count !== null && until !== null) return invalid('must not have both COUNT and UNTIL');
  const lists = Object.fromEntries([...parts].filter(([name]) => name.startsWith('BY')));
  const conflict = findConflict(frequency as Frequency, lists);
  if (conflict) return invalid(conflict);
  return {
    text: upper,
    frequency: frequency as Frequency,
    interval: (interval as number | null) ?? 1,
    count: count as number | null,
    until: until as RuleEnd | null,
    weekStart: (parts.get('WKST')?.[0] as Weekday | undefined) ?? 'MO',
    lists,
  };
}

export function isProblem(outcome: RecurrenceRule | RuleProblem): outcome is RuleProblem {
  return 'message' in outcome;
}

function invalid(message: string): RuleProblem {
  return { message };
}

function readNumber(parts: RuleParts, name: string, most: number): number | null | string {
  const value = parts.get(name)?.[0];
  if (value === undefined) return null;
  const number = /^\d{1,10}$/.test(value) ? Number(value) : 0;
  return number >= 1 && number <= most ? number : `${name} must be an integer from 1 to ${most}`;
}

const UNTIL = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;

/** A date means its whole day. */
function readUntil(value: string | undefined): RuleEnd | null | string {
  if (value === undefined) return null;
  const problem = 'UNTIL must be a date or a UTC date and time such as 20361231T235959Z';
  const match = UNTIL.exec(value);
  if (!match) return problem;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0));
  if (month! < 1 || month! > 12) return `UNTIL must have a month from 01 to 12, and ${match[2]} is not one`;
  if (year! < 1970 || hour! > 23 || minute! > 59 || second! > 59) return problem;
  const until = new Date(Date.UTC(year!, month! - 1, day!, hour!, minute!, second!));
  if (until.getUTCMonth() !== month! - 1 || until.getUTCDate() !== day!) {
    return `UNTIL must be a day of its month, and ${match[3]} is not one`;
  }
  const isDate = match[4] === undefined;
  return { time: until.getTime() + (isDate ? DAY_MS - 1 : 0), isLocal: match[7] !== 'Z' };
}

/** Checks which parts may be combined, by RFC 5545 (3.3.10). */
function findConflict(frequency: Frequency, lists: RecurrenceRule['lists']): string | null {
  const has = (name: string) => lists[name] !== undefined;
  const yearly = frequency === 'YEARLY';
  if (has('BYWEEKNO') && !yearly) return 'BYWEEKNO needs FREQ=YEARLY';
  if (has('BYYEARDAY') && ['MONTHLY', 'WEEKLY', 'DAILY'].includes(frequency)) {
    return `BYYEARDAY cannot be used with FREQ=${frequency}`;
  }
  if (has('BYMONTHDAY') && frequency === 'WEEKLY') return 'BYMONTHDAY cannot be used with FREQ=WEEKLY';
  const ordinals = (lists['BYDAY'] ?? []).map((day) => Number(day.slice(0, -2))).filter((n) => n !== 0);
  if (ordinals.length > 0 && !yearly && frequency !== 'MONTHLY') {
    return 'BYDAY with a number needs FREQ=MONTHLY or FREQ=YEARLY';
  }
  if (ordinals.length > 0 && has('BYWEEKNO')) return 'BYDAY with a number cannot be used with BYWEEKNO';
  if (!yearly && ordinals.some((n) => Math.abs(n) > 5)) return 'BYDAY must not count beyond the fifth of a month';
  // Such weeks may contain days of two years, and RFC 5545 does not define which year's set they belong to.
  const isAtYearEnd = lists['BYWEEKNO']?.some((number) => Math.abs(Number(number)) >= 52);
  if (has('BYSETPOS') && isAtYearEnd) return 'BYSETPOS cannot be used with BYWEEKNO beyond 51';
  if (has('BYSETPOS') && Object.keys(lists).length === 1) return 'BYSETPOS needs another BY part';
  return null;
}
