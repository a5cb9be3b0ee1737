import { DAY_MS, MINUTE_MS, SECOND_MS } from '../common/durations.ts';
import { parseInstant } from '../common/instant.ts';

export const REPORT_ACTIVITY = 'GenerateUsgReportActivity';

export interface ReportRange {
  /** In whole seconds, inclusive. */
  start: Date;
  /** In whole seconds, exclusive. */
  end: Date;
  label: string;
}

const digits = (date: Date, length: number): string => date.toISOString().slice(0, length).replace(/[-:]/g, '');
const dayOf = (date: Date): string => digits(date, 10);
const minuteOf = (date: Date): string => `${digits(date, 16)}Z`;
const secondOf = (date: Date): string => `${digits(date, 19)}Z`;
const secondBefore = (date: Date): Date => new Date(date.getTime() - SECOND_MS);
const floorTo = (date: Date, unitMs: number): Date => new Date(Math.floor(date.getTime() / unitMs) * unitMs);

function unitOf(text: string): number {
  if (!text.includes('T') && !text.includes('t')) return DAY_MS;
  return /t\d\d:\d\d:\d\d/i.test(text) ? SECOND_MS : MINUTE_MS;
}

/** The end is inclusive. Or an invalid parameter's name, or `order`. @see docs/api-conventions.md#reports-and-files */
export function readReportRange(
  startText: string,
  endText: string | null,
): ReportRange | 'start_date' | 'end_date' | 'order' {
  const given = parseInstant(startText);
  if (given === null) return 'start_date';
  const start = floorTo(given, SECOND_MS);
  if (endText === null) return momentRange(start, unitOf(startText));
  const last = parseInstant(endText);
  if (last === null) return 'end_date';
  const covered = unitOf(endText) === DAY_MS ? DAY_MS : SECOND_MS;
  const end = new Date(floorTo(last, SECOND_MS).getTime() + covered);
  if (end <= start) return 'order';
  const range = { start, end, label: `${secondOf(start)}-${secondOf(secondBefore(end))}` };
  return isWholeDays(range) ? widenToDays(range) : range;
}

function momentRange(start: Date, unitMs: number): ReportRange {
  const label = unitMs === DAY_MS ? dayOf(start) : unitMs === MINUTE_MS ? minuteOf(start) : secondOf(start);
  return { start, end: new Date(start.getTime() + unitMs), label };
}

function isWholeDays({ start, end }: ReportRange): boolean {
  return start.getTime() % DAY_MS === 0 && end.getTime() % DAY_MS === 0;
}

/** Extends a range to the whole days (UTC) that it touches; `end` is exclusive. */
export function widenToDays(range: ReportRange): ReportRange {
  const last = secondBefore(range.end);
  const label = !range.label.includes('-') ? dayOf(range.start) : `${dayOf(range.start)}-${dayOf(last)}`;
  return { start: floorTo(range.start, DAY_MS), end: new Date(floorTo(last, DAY_MS).getTime() + DAY_MS), label };
}

/** Name of a report without its file extension, also stored in its rows. */
export function reportName(profileId: number, label: string): string {
  return `usg_profile_audit_report_ID${profileId}-${label}`;
}

/** Storage key of a report, also its path for clients. @see docs/api-conventions.md#reports-and-files */
export function reportPath(profileId: number, { label }: Pick<ReportRange, 'label'>, isDetailed: boolean): string {
  return `${reportName(profileId, label)}${isDetailed ? '-detailed' : ''}.csv`;
}

/** Parses the path of a summary report on a day or on one run, named by the second of its start; null for others. */
export function readMomentReportPath(path: string): { profileId: number; range: ReportRange } | null {
  const parts = /^usg_profile_audit_report_ID([1-9]\d{0,9})-(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?\.csv$/.exec(
    path,
  );
  if (!parts) return null;
  const [, id, year, month, day, hour, minute, second] = parts;
  const date = `${year}-${month}-${day}`;
  const start = parseInstant(hour === undefined ? date : `${date}T${hour}:${minute}:${second}Z`);
  if (start === null || Number(id) >= 2 ** 31) return null;
  return { profileId: Number(id), range: momentRange(start, hour === undefined ? DAY_MS : SECOND_MS) };
}

/** The whole day (UTC) of a time. */
export function dayRange(startedAt: Date): ReportRange {
  return momentRange(floorTo(startedAt, DAY_MS), DAY_MS);
}
