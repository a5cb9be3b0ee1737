import type { ActivityStatus } from '../../../domain/activities/status.ts';
import {
  beginReportActivity,
  endReportActivity,
  findUsgReportOf,
  lockUsgReport,
  type ReportEnd,
  showReportProgress,
  type UsgReportKey,
} from '../../../persistence/compliance/usg-reports.sql.ts';
import { readReportStatus, setReportFile } from '../../../persistence/compliance/usg-reports.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { type ReportDeps, type WrittenReport, writeReport } from './generate.ts';

const PROGRESS_INTERVAL_MS = 1_000;

class ActivityEnded extends Error {}

/** Idempotent, also concurrently: one end, one file. `check` may throw to abort. Returns the final status. */
export async function produceReport(deps: ReportDeps, activityId: number, check: () => void): Promise<ActivityStatus> {
  const { db, clock, files } = deps;
  const key = await findUsgReportOf(db, activityId);
  if (!key || !(await beginReportActivity(db, activityId, clock.now()))) return readReportStatus(db, activityId);
  const onChunk = createProgressReporter(deps, activityId, check);
  try {
    const report = await writeReport(deps, key, { activityId, onChunk });
    await db.transaction(async (tx) => {
      const end: ReportEnd = { status: 'succeeded', text: key.path, now: clock.now() };
      if (!(await endReportActivity(tx, activityId, end))) throw new ActivityEnded();
      await publishReport(tx, key, report, end.now);
      await files.discard(tx, activityId);
    });
  } catch (error) {
    if (!(error instanceof ActivityEnded)) throw error;
    await files.discard(db, activityId);
  }
  return readReportStatus(db, activityId);
}

const FAILED_TEXT = 'The report could not be generated.';

/** Ends an open activity without a report. @returns its status afterwards */
export async function endReport({ db, clock, files }: ReportDeps, activityId: number, status: 'failed' | 'canceled') {
  const text = status === 'failed' ? FAILED_TEXT : null;
  await endReportActivity(db, activityId, { status, text, now: clock.now() });
  await files.discard(db, activityId);
  return readReportStatus(db, activityId);
}

/** Replaces the file of the report, whose row it locks until the transaction ends. */
export async function publishReport(tx: Sql, key: UsgReportKey, { file, state }: WrittenReport, now: Date) {
  const { id } = await lockUsgReport(tx, key);
  const fileId = await file.publish(tx, key.path, now);
  await setReportFile(tx, id, { fileId, fingerprint: state.fingerprint, oldestRun: state.oldest_run });
}

function createProgressReporter({ db, clock }: ReportDeps, activityId: number, check: () => void) {
  let shownAt = performance.now();
  return async (share: number): Promise<void> => {
    check();
    if (performance.now() - shownAt < PROGRESS_INTERVAL_MS) return;
    shownAt = performance.now();
    const percent = Math.min(99, Math.max(1, Math.floor(100 * share)));
    if (!(await showReportProgress(db, activityId, percent, clock.now()))) throw new ActivityEnded();
  };
}
