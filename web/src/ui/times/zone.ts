const MINUTE_MS = 60_000;
const NUMBERS = { dateStyle: 'short', timeStyle: 'short' } as const;
const clocks = new Map<string, Intl.DateTimeFormat>();

/** The time zone of the browser. */
export const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All time zones that the browser knows, with UTC and the person's own. */
export function timeZones(own: string): string[] {
  return [...new Set(['UTC', own, ...Intl.supportedValuesOf('timeZone')])];
}

/** The zone of a person: the one that they have chosen, otherwise the browser's. Without a choice the server has UTC. */
export function zoneOf(chosen: string | undefined): string {
  return chosen !== undefined && chosen !== 'UTC' && isZone(chosen) ? chosen : BROWSER_ZONE;
}

/** Whether the browser knows a time zone by this name. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** What a clock in a zone shows at a moment, such as `2026-05-04T09:30`: the value of a field for a local time. */
export function toLocal(moment: Date | string, zone: string): string {
  const format = clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { ...NUMBERS, timeZone: zone });
  clocks.set(zone, format);
  return format.format(new Date(moment)).replace(' ', 'T');
}

/**
 * The moment at which a clock in a zone shows a local time, as UTC; null if it is not complete. Of a time that comes twice the
 * first, and for one that clocks skip the time as far after it.
 */
export function toUtc(local: string, zone: string): string | null {
  const wanted = Date.parse(`${local}Z`);
  if (Number.isNaN(wanted)) return null;
  const offsets = [wanted - 24 * 60 * MINUTE_MS, wanted + 24 * 60 * MINUTE_MS].map((near) => offsetAt(near, zone));
  const moments = offsets.map((offset) => wanted - offset);
  const exact = moments.filter((moment) => moment + offsetAt(moment, zone) === wanted);
  const chosen = exact.length > 0 ? Math.min(...exact) : moments[0]!;
  return new Date(chosen).toISOString().replace('.000Z', 'Z');
}

function offsetAt(moment: number, zone: string): number {
  const whole = Math.floor(moment / MINUTE_MS) * MINUTE_MS;
  return Date.parse(`${toLocal(new Date(whole), zone)}Z`) - whole;
}
