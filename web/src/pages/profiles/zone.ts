const MINUTE_MS = 60_000;

/** The time zone of the browser. */
export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All time zones that the browser knows, with UTC. */
export function timeZones(): string[] {
  return [...new Set(['UTC', OWN_ZONE, ...Intl.supportedValuesOf('timeZone')])];
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
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
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
