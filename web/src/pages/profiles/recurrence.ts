/** A recurrence rule as the form shows it. Numbers are texts, as fields have them. */
export interface Recurrence {
  every: 'week' | 'month' | 'custom';
  interval: string;
  weekday: string;
  /** Of a month: a day such as the 15th, or a weekday such as the first Monday. */
  by: 'day' | 'weekday';
  day: string;
  nth: string;
  ends: 'never' | 'count' | 'until';
  count: string;
  /** A date, `2026-05-04`. */
  until: string;
  /** The text of a rule that the other fields cannot express. */
  rule: string;
}

export const WEEKDAYS: ReadonlyArray<{ value: string; label: string }> = [
  { value: 'MO', label: 'Monday' },
  { value: 'TU', label: 'Tuesday' },
  { value: 'WE', label: 'Wednesday' },
  { value: 'TH', label: 'Thursday' },
  { value: 'FR', label: 'Friday' },
  { value: 'SA', label: 'Saturday' },
  { value: 'SU', label: 'Sunday' },
];
export const NTH: ReadonlyArray<{ value: string; label: string }> = [
  { value: '1', label: 'first' },
  { value: '2', label: 'second' },
  { value: '3', label: 'third' },
  { value: '4', label: 'fourth' },
  { value: '-1', label: 'last' },
];
export const LAST_DAY = '-1';

export const WEEKLY: Recurrence = {
  every: 'week',
  interval: '1',
  weekday: 'MO',
  by: 'weekday',
  day: '1',
  nth: '1',
  ends: 'never',
  count: '10',
  until: '',
  rule: '',
};

/** The rule in the form of RFC 5545. */
export function toRule(recurrence: Recurrence): string {
  const { every, interval, weekday, by, day, nth, rule } = recurrence;
  if (every === 'custom') return rule.trim();
  const parts = [every === 'week' ? 'FREQ=WEEKLY' : 'FREQ=MONTHLY'];
  if (interval !== '1') parts.push(`INTERVAL=${interval}`);
  if (every === 'week') parts.push(`BYDAY=${weekday}`);
  else parts.push(by === 'day' ? `BYMONTHDAY=${day}` : `BYDAY=${nth}${weekday}`);
  if (recurrence.ends === 'count') parts.push(`COUNT=${recurrence.count}`);
  if (recurrence.ends === 'until') parts.push(`UNTIL=${recurrence.until.replaceAll('-', '')}`);
  return parts.join(';');
}

/** Whether each field that is shown has a value. */
export function isFilled({ every, interval, ends, count, until, rule }: Recurrence): boolean {
  if (every === 'custom') return rule.trim() !== '';
  const end = { never: [], count: [count], until: [until] }[ends];
  return [interval, ...end].every((field) => field !== '');
}

/** Reads a rule into the fields of the form; one that they cannot express stays a text. */
export function fromRule(text: string): Recurrence {
  const custom: Recurrence = { ...WEEKLY, every: 'custom', rule: text };
  const parts = new Map(text.split(';').map((part) => part.split('=') as [string, string]));
  const read = { ...WEEKLY };
  const [frequency, interval] = [parts.get('FREQ'), parts.get('INTERVAL')];
  if (frequency !== 'WEEKLY' && frequency !== 'MONTHLY') return custom;
  read.every = frequency === 'WEEKLY' ? 'week' : 'month';
  if (interval !== undefined) read.interval = interval;
  const [, nth, weekday] = /^(1|2|3|4|-1)?(MO|TU|WE|TH|FR|SA|SU)$/.exec(parts.get('BYDAY') ?? '') ?? [];
  if (weekday !== undefined) Object.assign(read, { weekday, by: 'weekday', nth: nth ?? '1' });
  const day = parts.get('BYMONTHDAY');
  if (day !== undefined) Object.assign(read, { by: 'day', day });
  const count = parts.get('COUNT');
  if (count !== undefined) Object.assign(read, { ends: 'count', count });
  const [, year, month, date] = /^(\d{4})(\d\d)(\d\d)$/.exec(parts.get('UNTIL') ?? '') ?? [];
  if (year !== undefined) Object.assign(read, { ends: 'until', until: `${year}-${month}-${date}` });
  // Whatever the fields have left out would be lost when the form is saved.
  const sorted = (rule: string) => rule.split(';').sort().join(';');
  return sorted(toRule(read)) === sorted(text) ? read : custom;
}

/** A rule in words; its text if the form has no words for it. */
export function describeRule(text: string): string {
  const { every, interval, weekday, by, day, nth, ends, count, until } = fromRule(text);
  if (every === 'custom') return text;
  const often = interval === '1' ? `Every ${every}` : `Every ${interval} ${every}s`;
  const name = WEEKDAYS.find(({ value }) => value === weekday)?.label ?? weekday;
  const place = NTH.find(({ value }) => value === nth)?.label ?? nth;
  const onDay = day === LAST_DAY ? 'on the last day' : `on day ${day}`;
  const on = every === 'week' ? `on ${name}` : by === 'day' ? onDay : `on the ${place} ${name}`;
  const end = { never: '', count: `, ${count} times`, until: `, until ${until}` }[ends];
  return `${often} ${on}${end}`;
}
