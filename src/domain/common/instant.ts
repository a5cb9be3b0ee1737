const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** UTC by default; null if invalid or outside years 1 to 9999. @see docs/api-conventions.md#names-values-and-times */
export function parseInstant(text: string): Date | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offset = parseOffset(match[8] ?? 'Z');
  if (offset === null || hour! > 23 || minute! > 59 || second! > 59) return null;
  const local = new Date(0);
  local.setUTCFullYear(year!, month! - 1, day!);
  if (local.getUTCMonth() !== month! - 1 || local.getUTCDate() !== day!) return null;
  local.setUTCHours(hour!, minute!, second!, milliseconds);
  const instant = new Date(local.getTime() - offset * 60_000);
  const inRange = instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999;
  return inRange ? instant : null;
}

const MAX_OFFSET_MINUTES = 14 * 60;

function parseOffset(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  const total = hours * 60 + minutes;
  if (minutes > 59 || total > MAX_OFFSET_MINUTES) return null;
  return zone.startsWith('-') ? -total : total;
}
