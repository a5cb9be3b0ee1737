import { type RuleParts, readParts } from './rule-parts.ts';

/** Days of the week in the order of ISO 8601. */
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export type Frequency = 'YEARLY' | 'MONTHLY' | 'WEEKLY' | 'DAILY';

/** A recurrence rule that is safe to hand to an expansion: every part is known, in range and allowed beside the others. */
export interface RecurrenceRule {
  /** Upper case, without `RRULE:`, parts in the order given. */
  text: string;
  frequency: Frequency;
  interval: number;
  count: number | null;
  until: Date | null;
  /** Lists of the rule by name (`BYDAY`, `BYMONTH`, ...), each entry once. */
  lists: Readonly<Record<string, readonly string[]>>;
}

/** Why a text is no usable rule. `too-often`: it is one, but of hours, minutes or seconds. */
export interface RuleProblem {
  kind: 'invalid' | 'too-often';
  message: string;
}

const MAX_LENGTH = 1000;
/** Ten years of days: with more there is no second date within the horizon of any check. */
const MAX_INTERVAL = 3650;
/** Weekly for nearly two centuries. */
const MAX_COUNT = 9999;
const FREQUENCIES: readonly string[] = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY'];
const TOO_OFTEN: readonly string[] = ['HOURLY', 'MINUTELY', 'SECONDLY'];

/**
 * Reads one RFC 5545 recurrence rule, with or without `RRULE:`, by a grammar of our own: what passes can be expanded
 * by a library that does not check its input.
 *
 * @remarks Linear in the length of the text. DTSTART, EXDATE, TZID and a second rule are refused.
 * @see api-decisions 5.2; mission-and-ecosystem 3.3
 */
export function parseRule(text: string): RecurrenceRule | RuleProblem {
  if (text.length > MAX_LENGTH) return invalid(`must not have more than ${MAX_LENGTH} characters`);
  const upper = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '');
  const parts = readParts(upper);
  if (typeof parts === 'string') return invalid(parts);
  const frequency = parts.get('FREQ')?.[0];
  if (frequency === undefined) return invalid('must have FREQ');
  if (TOO_OFTEN.includes(frequency)) return { kind: 'too-often', message: 'must not be more frequent than weekly' };
  if (!FREQUENCIES.includes(frequency)) return invalid(`FREQ must be one of ${FREQUENCIES.join(', ')}`);
  const interval = readNumber(parts, 'INTERVAL', MAX_INTERVAL);
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
    until: until as Date | null,
    lists,
  };
}

/** Tells the outcomes of {@link parseRule} apart. */
export function isProblem(outcome: RecurrenceRule | RuleProblem): outcome is RuleProblem {
  return 'kind' in outcome;
}

/** Whether a rule names weeks that may hold days of two years: the last ones, from either end. */
export function isAtYearEnd({ lists }: Pick<RecurrenceRule, 'lists'>): boolean {
  return lists['BYWEEKNO']?.some((number) => Math.abs(Number(number)) >= 52) ?? false;
}

function invalid(message: string): RuleProblem {
  return { kind: 'invalid', message };
}

function readNumber(parts: RuleParts, name: string, most: number): number | null | string {
  const value = parts.get(name)?.[0];
  if (value === undefined) return null;
  const number = /^\d{1,10}$/.test(value) ? Number(value) : 0;
  return number >= 1 && number <= most ? number : `${name} must be an integer from 1 to ${most}`;
}

const UNTIL = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?$/;

function readUntil(value: string | undefined): Date | null | string {
  if (value === undefined) return null;
  const problem = 'UNTIL must be a date or a UTC date and time such as 20361231T235959Z';
  const match = UNTIL.exec(value);
  if (!match) return problem;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? 0));
  if (year! < 1970 || hour! > 23 || minute! > 59 || second! > 59) return problem;
  const until = new Date(Date.UTC(year!, month! - 1, day!, hour!, minute!, second!));
  return until.getUTCMonth() === month! - 1 && until.getUTCDate() === day! ? until : problem;
}

/** Which parts may stand beside which. @see RFC 5545 3.3.10 */
function findConflict(frequency: Frequency, lists: RecurrenceRule['lists']): string | null {
  const has = (name: string) => lists[name] !== undefined;
  const yearly = frequency === 'YEARLY';
  if (has('BYWEEKNO') && !yearly) return 'BYWEEKNO needs FREQ=YEARLY';
  if (has('BYYEARDAY') && !yearly) return 'BYYEARDAY needs FREQ=YEARLY';
  if (has('BYMONTHDAY') && frequency === 'WEEKLY') return 'BYMONTHDAY cannot be used with FREQ=WEEKLY';
  const ordinals = (lists['BYDAY'] ?? []).map((day) => Number(day.slice(0, -2))).filter((n) => n !== 0);
  if (ordinals.length > 0 && !yearly && frequency !== 'MONTHLY') {
    return 'BYDAY with a number needs FREQ=MONTHLY or FREQ=YEARLY';
  }
  if (ordinals.length > 0 && has('BYWEEKNO')) return 'BYDAY with a number cannot be used with BYWEEKNO';
  if (!yearly && ordinals.some((n) => Math.abs(n) > 5)) return 'BYDAY must not count beyond the fifth of a month';
  if (has('BYSETPOS') && isAtYearEnd({ lists })) return 'BYSETPOS cannot be used with BYWEEKNO beyond 51';
  if (has('BYSETPOS') && Object.keys(lists).length === 1) return 'BYSETPOS needs another BY part';
  return null;
}
