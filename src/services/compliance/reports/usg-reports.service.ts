import { SECOND_MS } from '../../../domain/common/durations.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { type ReportRange, readReportRange, reportPath, widenToDays } from '../../../domain/compliance/report.ts';
import { readBaseActivity } from '../../../persistence/activities/activities.repository.ts';
import { recordEvent } from '../../../persistence/events/events.repository.ts';
import type { UsgProfileRow } from '../../../persistence/compliance/usg-profiles.repository.ts';
import {
  hasRunsBetween,
  type ReportedRuns,
  readKeptSince,
  readRunsState,
} from '../../../persistence/compliance/usg-report-rows.ts';
import {
  insertReportActivity,
  lockUsgReport,
  type UsgReportKey,
} from '../../../persistence/compliance/usg-reports.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { type BaseActivity, toBaseActivity } from '../../activities/activity-views.ts';
import { fieldError } from '../../common/fields.ts';
import type { Caller, Clock, FileStore, OpenFile } from '../../common/ports.ts';
import { requireVisible } from '../profiles/reads.ts';
import { openDayReport } from './day-report.ts';

export interface UsgReportRequest {
  profileId: number;
  /** ISO 8601; alone it means its whole day, minute or second. */
  startDate: string;
  /** ISO 8601, inclusive. */
  endDate: string | null;
  detailed: boolean;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

/** A finished report by its path, or the activity that makes it. */
export type UsgReportResponse = { path: string } | { activity: BaseActivity };

export interface UsgReportsService {
  /**
   * Returns an up-to-date report, or the existing or new activity that makes it.
   * @throws {DomainError} UnknownUsgProfile; InvalidParameter for invalid dates or an end before the start
   * @see docs/api-conventions.md#reports-and-files
   */
  request(caller: Caller, request: UsgReportRequest): Promise<UsgReportResponse>;
  /** Opens a file by its path, writing missing day reports. @throws {DomainError} NotFound if missing or not visible */
  open(caller: Caller, path: string): Promise<OpenFile>;
}

export interface UsgReportsDeps {
  db: Database;
  clock: Clock;
  files: FileStore;
}

export function createUsgReportsService(deps: UsgReportsDeps): UsgReportsService {
  return {
    request: (caller, request) => requestReport(deps, caller, request),
    open: (caller, path) => openFile(deps, caller, path),
  };
}

async function requestReport(
  { db, clock }: UsgReportsDeps,
  caller: Caller,
  request: UsgReportRequest,
): Promise<UsgReportResponse> {
  const requested = readRange(request);
  const profile = await requireVisible(db, caller, request.profileId);
  const now = clock.now();
  return db.transaction(async (tx) => {
    const kept_since = await readKeptSince(tx, caller.accountId, now);
    const key = await toReportKey(tx, profile, requested, { detailed: request.detailed, kept_since });
    const report = await lockUsgReport(tx, key);
    if (report.open) return { activity: toBaseActivity(await readBaseActivity(tx, report.activity_id!, now), now) };
    const { fingerprint } = await readRunsState(tx, { ...key, kept_since });
    if (report.fingerprint === fingerprint) return { path: key.path };
    const activityId = await insertReportActivity(tx, {
      report,
      creatorId: caller.personId,
      summary: `Generate the report of the USG profile ${profile.title}`,
      now,
      traceparent: request.traceparent,
    });
    await recordEvent(tx, caller, {
      entityType: 'UsgProfile',
      entityId: profile.id,
      entityName: profile.title,
      message: `Requested the report ${key.path} of the USG profile ${profile.title}`,
    });
    return { activity: toBaseActivity(await readBaseActivity(tx, activityId, now), now) };
  });
}

function readRange({ startDate, endDate }: UsgReportRequest): ReportRange {
  const range = readReportRange(startDate, endDate);
  if (range === 'order') throw fieldError('query.end_date', 'must not be before start_date');
  if (typeof range === 'string') throw fieldError(`query.${range}`, 'must be an ISO 8601 date or date and time');
  return range;
}

/** Whole days have a short name, and so has any longer range that includes all runs of its days. */
async function toReportKey(
  tx: Sql,
  profile: UsgProfileRow,
  requested: ReportRange,
  { detailed, kept_since }: { detailed: boolean; kept_since: Date | null },
): Promise<UsgReportKey> {
  const runsOf = (range: ReportRange): ReportedRuns => ({
    profile_id: profile.id,
    range_start: range.start,
    range_end: range.end,
    kept_since,
  });
  const days = widenToDays(requested);
  const isOneRun = requested.end.getTime() - requested.start.getTime() === SECOND_MS;
  const range = isOneRun || (await hasRunsBetween(tx, runsOf(days), runsOf(requested))) ? requested : days;
  return {
    account_id: profile.account_id,
    profile_id: profile.id,
    path: reportPath(profile.id, range, detailed),
    range_start: range.start,
    range_end: range.end,
    detailed,
  };
}

async function openFile(deps: UsgReportsDeps, caller: Caller, path: string): Promise<OpenFile> {
  const day = await openDayReport(deps, caller, path);
  if (day) return day;
  const file = await deps.files.open(caller.accountId, path);
  if (!file) throw unknownFile();
  await requireVisible(deps.db, caller, file.profileId).catch((error: unknown) => {
    throw error instanceof DomainError ? unknownFile() : error;
  });
  return file;
}

function unknownFile(): DomainError {
  return new DomainError('NotFound', 'There is no such file');
}
