/** Beyond it is no cron text that anybody wrote. */
const MAX_LENGTH = 256;

/** Items of a list: `*`, a value or a range, each with an optional step. */
const item = (value: string) => new RegExp(`^(?:\\*|${value}(?:-${value})?)(?:/[1-9]\\d{0,2})?$`, 'i');
const NUMBER = '\\d{1,2}';
const MONTH = `(?:${NUMBER}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)`;
const WEEKDAY = `(?:${NUMBER}|sun|mon|tue|wed|thu|fri|sat)`;

/** Minute, hour, day of the month, month, day of the week. */
const ITEMS = [item(NUMBER), item(NUMBER), item(NUMBER), item(MONTH), item(WEEKDAY)];

/**
 * Takes cron text apart: exactly five fields, each a list of items of `* , - /`, numbers and, for months and weekdays,
 * names. Whether the numbers are in range is left to who reads the items.
 *
 * @returns the items of each field, each once; null for anything else, as `@daily`, six fields, `L`, `#`, `H` or `?`
 * @see api-decisions 6.2
 */
export function splitCron(text: string): string[][] | null {
  if (text.length > MAX_LENGTH || /[^\S \t]/.test(text)) return null;
  const fields = text.split(/[ \t]+/).filter((field) => field !== '');
  if (fields.length !== ITEMS.length) return null;
  const lists = fields.map((field) => [...new Set(field.split(','))]);
  return lists.every((list, place) => list.every((one) => ITEMS[place]!.test(one))) ? lists : null;
}
