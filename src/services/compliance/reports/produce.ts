import type { ActivityStatus } from '../../../domain/activities/status.ts';
import type { UsgReportKey } from '../../../persistence/compliance/usg-reports.repository.ts';
import {
  beginReportActivity,
  endReportActivity,
  findUsgReportOf,
  lockUsgReport,
  type ReportEnd,
  readReportStatus,
  setReportFile,
  showReportProgress,
} from '../../../persistence/compliance/usg-reports.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import type { Clock } from '../../common/ports.ts';
import { type ReportWriter, type WrittenReport, writeReport } from './generate.ts';

export interface ReportProducer extends ReportWriter {
  clock: Clock;
}

/** Progress is stored at most this often. */
const SHOWN_EVERY_MS = 1_000;

class ActivityEnded extends Error {}

/**
 * Makes the report that an activity was created for.
 *
 * @param check - called between pieces. @throws to end it without a report
 * @returns the status that the activity has by then, which is not `succeeded` when it was cancelled meanwhile
 * @remarks Can be run again and twice at once: the activity ends once, with one file.
 */
export async function produceReport(
  deps: ReportProducer,
  activityId: number,
  check: () => void,
): Promise<ActivityStatus> {
  const { db, clock, files } = deps;
  const question = await findUsgReportOf(db, activityId);
  if (!question || !(await beginReportActivity(db, activityId, clock.now()))) return readReportStatus(db, activityId);
  const watch = { onChunk: progressOf(deps, activityId, check) };
  try {
    const report = await writeReport(deps, question, { activityId, now: clock.now(), watch });
    await db.transaction(async (tx) => {
      const end: ReportEnd = { status: 'succeeded', text: question.path, now: clock.now() };
      if (!(await endReportActivity(tx, activityId, end))) throw new ActivityEnded();
      await publishReport(tx, question, report, end.now);
      await files.discard(tx, activityId);
    });
  } catch (error) {
    if (!(error instanceof ActivityEnded)) throw error;
    await files.discard(db, activityId);
  }
  return readReportStatus(db, activityId);
}

const FAILED_TEXT = 'The report could not be generated.';

/** Ends the activity of a report without one, unless it has ended. @returns its status by then */
export async function endReport(
  { db, clock, files }: ReportProducer,
  activityId: number,
  status: 'failed' | 'canceled',
): Promise<ActivityStatus> {
  const text = status === 'failed' ? FAILED_TEXT : null;
  await endReportActivity(db, activityId, { status, text, now: clock.now() });
  await files.discard(db, activityId);
  return readReportStatus(db, activityId);
}

/** Lets a written report be found as the answer to its question. */
export async function publishReport(
  tx: Sql,
  question: UsgReportKey,
  { file, state }: WrittenReport,
  now: Date,
): Promise<void> {
  const { id } = await lockUsgReport(tx, question);
  const fileId = await file.publish(tx, question.path, now);
  await setReportFile(tx, id, { id: fileId, fingerprint: state.fingerprint, oldestRun: state.oldest_run });
}

/** Shows progress now and then, and ends the work once the activity has ended. */
function progressOf({ db, clock }: ReportProducer, activityId: number, check: () => void) {
  let shownAt = performance.now();
  return async (share: number): Promise<void> => {
    check();
    if (performance.now() - shownAt < SHOWN_EVERY_MS) return;
    shownAt = performance.now();
    const percent = Math.min(99, Math.max(1, Math.floor(100 * share)));
    if (!(await showReportProgress(db, activityId, percent, clock.now()))) throw new ActivityEnded();
  };
}
