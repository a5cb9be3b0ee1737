import { dayRange, reportPath, reportProfileId } from '../../domain/usg/report.ts';
import { findUsgProfile } from '../../persistence/repositories/usg-profiles.repository.ts';
import { readKeptSince, readRunsState } from '../../persistence/repositories/usg-report-rows.ts';
import { findUsgReport, type UsgReportQuestion } from '../../persistence/repositories/usg-reports.repository.ts';
import { readLastRuns } from '../../persistence/repositories/usg-runs.repository.ts';
import type { Caller, OpenFile } from '../ports.ts';
import { writeReport } from './generate.ts';
import { publishReport, type ReportProducer } from './produce.ts';

/**
 * Opens the report on the last run of a profile, which profiles name before anybody asked for it, and writes it first
 * when there is none that is still true.
 *
 * @returns null when the path is not the one of a last run that has ended and that the caller may see
 */
export async function openLastReport(deps: ReportProducer, caller: Caller, path: string): Promise<OpenFile | null> {
  const profileId = reportProfileId(path);
  if (profileId === null) return null;
  const { db, files, clock } = deps;
  const { accountId } = caller;
  const profile = await findUsgProfile(db, { accountId, view: caller.groups('ViewUsgProfile') }, profileId);
  const last = profile && (await readLastRuns(db, [profileId])).get(profileId);
  if (!last || last.open) return null;
  const range = dayRange(last.started_at);
  if (reportPath(profileId, range, false) !== path) return null;
  const question: UsgReportQuestion = {
    account_id: accountId,
    profile_id: profileId,
    path,
    range_start: range.start,
    range_end: range.end,
    detailed: false,
  };
  if (!(await isTrue(deps, question))) {
    const report = await writeReport(deps, question, { activityId: null, now: clock.now(), watch: UNWATCHED });
    await db.transaction((tx) => publishReport(tx, question, report, clock.now()));
  }
  return files.open(accountId, path);
}

const UNWATCHED = { onPiece: () => Promise.resolve() };

async function isTrue({ db, clock }: ReportProducer, question: UsgReportQuestion): Promise<boolean> {
  const kept_since = await readKeptSince(db, question.account_id, clock.now());
  const { fingerprint } = await readRunsState(db, { ...question, kept_since });
  const row = await findUsgReport(db, question.account_id, question.path);
  return row?.fingerprint === fingerprint;
}
