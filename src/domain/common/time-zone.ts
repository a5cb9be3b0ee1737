import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './durations.ts';

export const UTC = 'UTC';

/** The IANA names without an area. The platform accepts more, some of them ambiguous (`IST`). */
const ABBREVIATIONS: ReadonlySet<string> = new Set('UTC GMT UCT CET EET MET WET EST MST HST PRC ROC ROK'.split(' '));

/** Whether a text is an IANA time zone name, in any case. Offsets such as `+01:00` are not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name) || /^SystemV\//i.test(name)) return false;
  if (/^[A-Za-z]{3}$/.test(name) && !ABBREVIATIONS.has(name.toUpperCase())) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** Whether a zone always has UTC time. @throws RangeError for an unknown zone */
export function isUtc(zone: string): boolean {
  return zone === UTC || clockOf(zone).isUtc;
}

/** Local time of a zone at an instant, in ms as if in UTC. @throws RangeError for an unknown zone */
export function wallClockAt(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant);
}

/** Of a local time (ms as if in UTC): the first if repeated; if skipped, by the offset before (RFC 5545 3.3.5). */
export function instantOf(zone: string, wall: number): number {
  const before = offsetAt(zone, wall - DAY_MS);
  const after = offsetAt(zone, wall + DAY_MS);
  const isShown = (offset: number) => offsetAt(zone, wall - offset) === offset;
  return wall - (isShown(before) || !isShown(after) ? before : after);
}

/** By how many ms clocks changed in the day before an instant; positive in spring. */
export function changeBefore(zone: string, instant: number): number {
  return offsetAt(zone, instant) - offsetAt(zone, instant - DAY_MS);
}

interface Clock {
  isUtc: boolean;
  format: Intl.DateTimeFormat;
}

const MAX_CLOCKS = 1000;
const clocks = new Map<string, Clock>();

function clockOf(zone: string): Clock {
  const known = clocks.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const clock = { isUtc: format.resolvedOptions().timeZone === UTC, format };
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  clocks.set(zone, clock);
  return clock;
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Offset from UTC in ms; positive in the east. */
function offsetAt(zone: string, instant: number): number {
  if (isUtc(zone)) return 0;
  const [, sign, hours, minutes, seconds] = OFFSET.exec(clockOf(zone).format.format(instant))!;
  const offset = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds ?? 0) * SECOND_MS;
  return sign === '-' ? -offset : offset;
}
