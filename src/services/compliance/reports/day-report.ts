import { readMomentReportPath } from '../../../domain/compliance/report.ts';
import { findUsgProfile } from '../../../persistence/compliance/usg-profiles.repository.ts';
import {
  hasEndedRuns,
  type ReportedRuns,
  readKeptSince,
  readRunsState,
} from '../../../persistence/compliance/usg-report-rows.ts';
import { findUsgReport, type UsgReportKey } from '../../../persistence/compliance/usg-reports.repository.ts';
import type { Caller, OpenFile } from '../../common/ports.ts';
import { writeReport } from './generate.ts';
import { publishReport, type ReportProducer } from './produce.ts';

/** Opens the report on a day or run that has finished; creates or updates it first. @returns null if there is none */
export async function openDayReport(deps: ReportProducer, caller: Caller, path: string): Promise<OpenFile | null> {
  const named = readMomentReportPath(path);
  if (named === null) return null;
  const { profileId, range } = named;
  const { db, files, clock } = deps;
  const { accountId } = caller;
  if (!(await findUsgProfile(db, { accountId, view: caller.groups('ViewUsgProfile') }, profileId))) return null;
  const key: UsgReportKey = {
    account_id: accountId,
    profile_id: profileId,
    path,
    range_start: range.start,
    range_end: range.end,
    detailed: false,
  };
  const runs: ReportedRuns = { ...key, kept_since: await readKeptSince(db, accountId, clock.now()) };
  if (!(await hasEndedRuns(db, runs))) return null;
  const known = await findUsgReport(db, accountId, path);
  if (known?.fingerprint !== (await readRunsState(db, runs)).fingerprint) {
    const report = await writeReport(deps, key, { activityId: null, now: clock.now(), watch: NO_OBSERVER });
    await db.transaction((tx) => publishReport(tx, key, report, clock.now()));
  }
  return files.open(accountId, path);
}

const NO_OBSERVER = { onChunk: () => Promise.resolve() };
