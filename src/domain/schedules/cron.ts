import type { CalendarTimes } from './profile-schedule.ts';

/** 0 is Sunday. Null is every day; of two day fields one must match. @see docs/api-conventions.md#triggers-and-runs */
interface CronSchedule {
  minutes: readonly number[];
  hours: readonly number[];
  daysOfMonth: readonly number[] | null;
  months: readonly number[];
  daysOfWeek: readonly number[] | null;
}

interface CronProblem {
  problem: string;
}

interface Field {
  name: string;
  first: number;
  last: number;
  names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const FIELDS: readonly Field[] = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of the month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12, names: MONTHS },
  { name: 'day of the week', first: 0, last: 7, names: WEEKDAYS },
];

const MAX_LENGTH = 255;
const SATURDAY = 6;

export function isCronProblem(cron: CronSchedule | CronProblem): cron is CronProblem {
  return 'problem' in cron;
}

/** Five fields of numbers, names, `*`, lists, ranges and steps; impossible dates such as 31 February are problems. */
export function parseCron(text: string): CronSchedule | CronProblem {
  const parts = text.trim().split(/[ \t]+/);
  if (text.length > MAX_LENGTH || parts.length !== FIELDS.length) return { problem: 'must have five fields' };
  const values: number[][] = [];
  for (const [i, field] of FIELDS.entries()) {
    const read = readField(parts[i]!, field);
    if (read === null) return { problem: `has no valid ${field.name}` };
    values.push(read);
  }
  const [minutes = [], hours = [], daysOfMonth = [], months = [], daysOfWeek = []] = values;
  const cron = {
    minutes,
    hours,
    daysOfMonth: isAny(parts[2]!) ? null : daysOfMonth,
    months,
    daysOfWeek: isAny(parts[4]!) ? null : sorted(daysOfWeek.map((day) => day % 7)),
  };
  return comes(cron) ? cron : { problem: 'names days that never come' };
}

function comes({ daysOfMonth, months, daysOfWeek }: CronSchedule): boolean {
  if (daysOfMonth === null || daysOfWeek !== null) return true;
  return months.some((month) => daysOfMonth[0]! <= LENGTHS[month - 1]!);
}

function isAny(text: string): boolean {
  return text === '*' || text === '*/1';
}

function readField(text: string, field: Field): number[] | null {
  const values: number[] = [];
  for (const item of text.split(',')) {
    const read = readItem(item, field);
    if (read === null) return null;
    values.push(...read);
  }
  return sorted(values);
}

const ITEM = /^(?:(\*)|([a-z]+|\d{1,2})(?:-([a-z]+|\d{1,2}))?)(?:\/(\d{1,2}))?$/i;

/** One item of a list; a single value with a step starts a range to the end of the field. */
function readItem(text: string, field: Field): number[] | null {
  const match = ITEM.exec(text);
  if (!match) return null;
  const [, any, low, high, step] = match;
  const end = field.names === WEEKDAYS ? SATURDAY : field.last;
  const first = any ? field.first : readValue(low!, field);
  const last = any || (high === undefined && step !== undefined) ? end : readValue(high ?? low!, field);
  const by = Number(step ?? 1);
  if (first === null || last === null || first > last || by < 1) return null;
  const values: number[] = [];
  for (let value = first; value <= last; value += by) values.push(value);
  return values;
}

function readValue(text: string, { first, last, names }: Field): number | null {
  if (/^\d/.test(text)) {
    const value = Number(text);
    return value >= first && value <= last ? value : null;
  }
  const place = names?.indexOf(text.toLowerCase()) ?? -1;
  return place === -1 ? null : place + first;
}

function sorted(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Calendars must match in all fields, so either-day schedules become two. @see docs/architecture.md#cron */
export function cronCalendars({ daysOfMonth, daysOfWeek, ...times }: CronSchedule): CalendarTimes[] {
  if (daysOfMonth === null || daysOfWeek === null) return [{ ...times, daysOfMonth, daysOfWeek }];
  return [
    { ...times, daysOfMonth, daysOfWeek: null },
    { ...times, daysOfMonth: null, daysOfWeek },
  ];
}
