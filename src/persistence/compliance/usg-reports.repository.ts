import type { ActivityStatus } from '../../domain/activities/status.ts';
import { REPORT_ACTIVITY } from '../../domain/compliance/report.ts';
import { Activity } from '../activities/activity.entity.ts';
import type { Sql } from '../database/sql.ts';
import { UsgReport } from './usg-report.entity.ts';
import type { UsgReportRow } from './usg-reports.sql.ts';
import { addStartCommand } from '../activities/activity-creation.repository.ts';

/** Inserts the activity of a report and the command that starts its workflow. @returns its id */
export async function insertReportActivity(
  tx: Sql,
  { id: report, account_id: accountId, profile_id }: UsgReportRow,
  activity: { creatorId: number; summary: string; now: Date; traceparent: string | null },
): Promise<number> {
  const { creatorId, summary, now, traceparent } = activity;
  const id = await tx.em.insert(Activity, {
    accountId,
    type: REPORT_ACTIVITY,
    summary,
    status: 'undelivered',
    creatorId,
    creationTime: now,
    modificationTime: now,
    parameters: { operation: 'usg-report', profile_id },
    progress: 0,
  });
  tx.em.assign(await tx.em.findOneOrFail(UsgReport, report), { activityId: id });
  await addStartCommand(tx, id, { accountId, traceparent, now });
  return id;
}

/** Sets the modification time of an open activity, as a sign of life; a closed one is unchanged. */
export async function touchReportActivity(sql: Sql, id: number, now: Date): Promise<void> {
  await sql.em.nativeUpdate(Activity, { id, completionTime: null }, { modificationTime: now });
}

/** The caller holds the lock of {@link lockUsgReport}. */
export async function setReportFile(
  tx: Sql,
  report: number,
  file: Pick<UsgReport, 'fileId' | 'fingerprint' | 'oldestRun'>,
): Promise<void> {
  tx.em.assign(await tx.em.findOneOrFail(UsgReport, report), file);
}

/** `canceled` when there is no such activity. */
export async function readReportStatus({ em }: Sql, activityId: number): Promise<ActivityStatus> {
  const found = em.getKysely().selectFrom('activity').select('status').where('id', '=', activityId);
  return (await found.executeTakeFirst())?.status ?? 'canceled';
}
