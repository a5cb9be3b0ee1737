import { nearestName } from '../common/nearest-name.ts';

export type RuleParts = ReadonlyMap<string, readonly string[]>;

const SINGLE: readonly string[] = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST'];

const between = (from: number, to: number) => (entry: string) =>
  /^\d{1,2}$/.test(entry) && Number(entry) >= from && Number(entry) <= to;

const fromEitherEnd = (to: number) => (entry: string) =>
  /^[+-]?\d{1,3}$/.test(entry) && Number(entry) !== 0 && Math.abs(Number(entry)) <= to;

const WEEKDAY = /^(MO|TU|WE|TH|FR|SA|SU)$/;
const NUMBERED_WEEKDAY = /^([+-]?(?:[1-9]|[1-4]\d|5[0-3]|0[1-9]))?(MO|TU|WE|TH|FR|SA|SU)$/;

const LISTS: Readonly<Record<string, { valid: (entry: string) => boolean; what: string }>> = {
  BYMONTH: { valid: between(1, 12), what: 'months from 1 to 12' },
  BYWEEKNO: { valid: fromEitherEnd(53), what: 'weeks from 1 to 53 or -53 to -1' },
  BYYEARDAY: { valid: fromEitherEnd(366), what: 'days from 1 to 366 or -366 to -1' },
  BYMONTHDAY: { valid: fromEitherEnd(31), what: 'days from 1 to 31 or -31 to -1' },
  BYDAY: { valid: (entry) => NUMBERED_WEEKDAY.test(entry), what: 'weekdays such as MO, 1MO or -1FR' },
  BYHOUR: { valid: between(0, 23), what: 'hours from 0 to 23' },
  BYMINUTE: { valid: between(0, 59), what: 'minutes from 0 to 59' },
  BYSECOND: { valid: between(0, 59), what: 'seconds from 0 to 59' },
  BYSETPOS: { valid: fromEitherEnd(366), what: 'positions from 1 to 366 or -366 to -1' },
};

/** Splits an upper-case rule into normalized parts. @returns a problem if a part is unknown, repeated or invalid */
export function readParts(rule: string): RuleParts | string {
  const misplaced = findMisplaced(rule);
  if (misplaced !== null) return misplaced;
  const parts = new Map<string, readonly string[]>();
  for (const part of rule.split(';')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0));
    const value = part.slice(at + 1);
    if (at === -1) return `must be parts NAME=VALUE, and ${shown(part)} has no "="`;
    if (!NAMES.includes(name)) return unknownPart(name);
    if (value === '') return `${name} has no value`;
    if (parts.has(name)) return `${name} must be given once`;
    const entries = SINGLE.includes(name) ? [value] : readList(name, value);
    if (typeof entries === 'string') return entries;
    parts.set(name, entries);
  }
  const start = parts.get('WKST')?.[0];
  if (start !== undefined && !WEEKDAY.test(start)) return 'WKST must be a weekday';
  return parts;
}

const NAMES: readonly string[] = [...SINGLE, ...Object.keys(LISTS)];
const OTHER_LINES = /(?:^|[\s;])(DTSTART|DTEND|EXDATE|EXRULE|RDATE|TZID)\b/;

function findMisplaced(rule: string): string | null {
  if (rule === '') return 'must not be empty';
  const [, line] = OTHER_LINES.exec(rule) ?? [];
  if (line === 'DTSTART') return 'must not have DTSTART; the rule counts from the start date of the profile';
  if (line !== undefined) return `must not have ${line}; only one recurrence rule is taken`;
  if (/[\r\n]/.test(rule)) return 'must be one rule on one line';
  if (/\s/.test(rule)) return 'must not have spaces';
  if (rule.endsWith(';')) return 'must not end with a semicolon';
  if (rule.startsWith(';')) return 'must not begin with a semicolon';
  return rule.includes(';;') ? 'must not have two semicolons in a row' : null;
}

function unknownPart(name: string): string {
  const nearest = nearestName(name, NAMES);
  return `has an unknown part ${shown(name)}; ${nearest ? `did you mean ${nearest}?` : `known are ${NAMES.join(', ')}`}`;
}

const MAX_SHOWN = 40;

function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

function readList(name: string, value: string): string[] | string {
  const { valid, what } = LISTS[name]!;
  const entries = value.split(',');
  const wrong = entries.find((entry) => !valid(entry));
  if (wrong !== undefined)
    return `${name} must list ${what}, and ${wrong === '' ? 'has an empty entry' : `${shown(wrong)} is not one`}`;
  return [...new Set(entries.map((entry) => (name === 'BYDAY' ? plainDay(entry) : String(Number(entry)))))];
}

function plainDay(entry: string): string {
  const number = entry.slice(0, -2);
  return `${number === '' ? '' : Number(number)}${entry.slice(-2)}`;
}
