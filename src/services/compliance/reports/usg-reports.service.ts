import { SECOND_MS } from '../../../domain/common/durations.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import {
  type ReportRange,
  readMomentReportPath,
  readReportRange,
  reportPath,
  widenToDays,
} from '../../../domain/compliance/report.ts';
import { readBaseActivity } from '../../../persistence/activities/activities.sql.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import { findUsgProfile, type UsgProfileRow } from '../../../persistence/compliance/usg-profiles.sql.ts';
import {
  hasEndedRuns,
  hasRunsBetween,
  type ReportedRuns,
  readKeptSince,
  readRunsState,
} from '../../../persistence/compliance/usg-report-rows.sql.ts';
import { insertReportActivity } from '../../../persistence/compliance/usg-reports.repository.ts';
import { findUsgReport, lockUsgReport, type UsgReportKey } from '../../../persistence/compliance/usg-reports.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { type BaseActivity, toBaseActivity } from '../../activities/displayed-activities.ts';
import { fieldError } from '../../common/fields.ts';
import type { Caller, OpenFile } from '../../common/ports.ts';
import { requireVisible } from '../profiles/reads.ts';
import { type ReportDeps, writeReport } from './generate.ts';
import { publishReport } from './produce.ts';

export interface UsgReportRequest {
  profileId: number;
  /** ISO 8601; alone it means its whole day, minute or second. */
  startDate: string;
  endDate: string | null;
  detailed: boolean;
  traceparent: string | null;
}

export type UsgReportResponse = { path: string } | { activity: BaseActivity };

export type UsgReportsService = ReturnType<typeof createUsgReportsService>;

export function createUsgReportsService(deps: ReportDeps) {
  return { request: requestReport.bind(null, deps), open: openFile.bind(null, deps) };
}

/** @throws {DomainError} UnknownUsgProfile, InvalidParameter @see docs/api-conventions.md#reports-and-files */
async function requestReport(
  { db, clock }: ReportDeps,
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
    const activityId = await insertReportActivity(tx, report, {
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

/** Opens a file by its path, writing missing day reports. @throws {DomainError} NotFound if missing or not visible */
async function openFile(deps: ReportDeps, caller: Caller, path: string): Promise<OpenFile> {
  const day = await openDayReport(deps, caller, path);
  if (day) return day;
  const file = await deps.files.open(caller.accountId, path);
  if (!file) throw unknownFile();
  await requireVisible(deps.db, caller, file.profileId).catch((error: unknown) => {
    throw error instanceof DomainError ? unknownFile() : error;
  });
  return file;
}

async function openDayReport(deps: ReportDeps, caller: Caller, path: string): Promise<OpenFile | null> {
  const named = readMomentReportPath(path);
  if (named === null) return null;
  const { profileId, range } = named;
  const { db, files, clock } = deps;
  const { accountId } = caller;
  if (!(await findUsgProfile(db, { accountId, view: caller.groups('ViewUsgProfile') }, profileId))) return null;
  const of = { account_id: accountId, profile_id: profileId };
  const key = { ...of, path, range_start: range.start, range_end: range.end, detailed: false };
  const runs = { ...key, kept_since: await readKeptSince(db, accountId, clock.now()) };
  if (!(await hasEndedRuns(db, runs))) return null;
  const known = await findUsgReport(db, accountId, path);
  if (known?.fingerprint !== (await readRunsState(db, runs)).fingerprint) {
    const report = await writeReport(deps, key, { activityId: null });
    await db.transaction((tx) => publishReport(tx, key, report, clock.now()));
  }
  return files.open(accountId, path);
}

function unknownFile(): DomainError {
  return new DomainError('NotFound', 'There is no such file');
}
