import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './durations.ts';

/** Of new profiles that name no other. */
export const UTC = 'UTC';

/** Names without an area that the IANA database has; the platform knows more, of which some mean several zones (`IST`). */
const ABBREVIATIONS: ReadonlySet<string> = new Set('UTC GMT UCT CET EET MET WET EST MST HST PRC ROC ROK'.split(' '));

/** Whether a text is a name in the IANA time zone database, in any case. Offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name) || /^SystemV\//i.test(name)) return false;
  if (/^[A-Za-z]{3}$/.test(name) && !ABBREVIATIONS.has(name.toUpperCase())) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** Whether clocks in a zone show UTC. @throws RangeError when there is no such zone */
export function isUtc(zone: string): boolean {
  return zone === UTC || clockOf(zone).isUtc;
}

/**
 * What clocks in a zone show at an instant, in ms, as if that were UTC.
 * @throws RangeError when there is no such zone
 */
export function wallClockAt(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant);
}

/**
 * The instant at which clocks in a zone show a time, as RFC 5545 (3.3.5) reads it: of a time that they show twice the
 * first, of one that they skip the instant that the offset before the gap gives (02:30 becomes 03:30).
 * @param wall - ms, as if in UTC
 */
export function instantOf(zone: string, wall: number): number {
  const before = offsetAt(zone, wall - DAY_MS);
  const after = offsetAt(zone, wall + DAY_MS);
  const isShown = (offset: number) => offsetAt(zone, wall - offset) === offset;
  return wall - (isShown(before) || !isShown(after) ? before : after);
}

/** By how much clocks were moved within the day up to an instant, in ms: positive in spring. */
export function changeBefore(zone: string, instant: number): number {
  return offsetAt(zone, instant) - offsetAt(zone, instant - DAY_MS);
}

interface Clock {
  isUtc: boolean;
  format: Intl.DateTimeFormat;
}

/** All zones and some spellings of them. */
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

/** Offset from UTC in ms, positive in the east. */
function offsetAt(zone: string, instant: number): number {
  if (isUtc(zone)) return 0;
  const [, sign, hours, minutes, seconds] = OFFSET.exec(clockOf(zone).format.format(instant))!;
  const offset = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds ?? 0) * SECOND_MS;
  return sign === '-' ? -offset : offset;
}
