import { toLocal } from './zone.ts';

/** `relative` for tables that are read for how long ago something was, `clock` for those where seconds count. */
export type TimeFormat = 'short' | 'full' | 'relative' | 'clock';

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const STYLES = {
  short: { dateStyle: 'medium', timeStyle: 'short' },
  full: { dateStyle: 'medium', timeStyle: 'medium' },
  clock: { timeStyle: 'medium' },
  dayAndClock: { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
} as const;
/** Formats are slow to make, and a table has hundreds of times. */
const formats = new Map<string, Intl.DateTimeFormat>();
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
/** Beyond this, a date is clearer than a number of days. */
const MAX_RELATIVE_S = 7 * 86_400;

/** A time as a clock in a zone shows it. */
export function timeText(time: Date, format: TimeFormat, { zone, now }: { zone: string; now: number }): string {
  if (format === 'relative') return relativeTime(time, now, zone);
  return format === 'clock' ? clockTime(time, zone, now) : formatIn(zone, format, time);
}

/** Such as "3 min. ago"; a date for what is more than a week away. */
function relativeTime(time: Date, now: number, zone: string): string {
  const seconds = Math.round((time.getTime() - now) / 1000);
  if (Math.abs(seconds) > MAX_RELATIVE_S) return formatIn(zone, 'short', time);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

/** Such as "2:04:05 PM", with the day if that is not today in the zone. */
export function clockTime(time: Date, zone: string, now = Date.now()): string {
  const isToday = toLocal(time, zone).slice(0, 10) === toLocal(new Date(now), zone).slice(0, 10);
  return formatIn(zone, isToday ? 'clock' : 'dayAndClock', time);
}

function formatIn(zone: string, style: keyof typeof STYLES, time: Date): string {
  const key = `${style} ${zone}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(undefined, { ...STYLES[style], timeZone: zone });
  formats.set(key, format);
  return format.format(time);
}
