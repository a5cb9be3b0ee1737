import { REPORT_ACTIVITY } from '../../domain/compliance/report.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { transitionGuard } from '../database/status-sql.ts';

export type UsgReportRow = Omit<Row<'usg_report'>, 'file_id' | 'oldest_run'> & {
  open: boolean;
};

export type UsgReportKey = Pick<
  UsgReportRow,
  'account_id' | 'profile_id' | 'path' | 'range_start' | 'range_end' | 'detailed'
>;

/** Inserts a missing report row and locks it until the transaction ends. */
export async function lockUsgReport(tx: Sql, key: UsgReportKey): Promise<UsgReportRow> {
  await tx.query(LOCK, key);
  return (await findUsgReport(tx, key.account_id, key.path))!;
}

/** The report of an account's path; null for none. */
export async function findUsgReport(sql: Sql, accountId: number, path: string): Promise<UsgReportRow | null> {
  const text = `${SELECT} where u.account_id = :accountId and u.path = :path`;
  const rows = await sql.query<UsgReportRow>(text, { accountId, path });
  return rows[0] ?? null;
}

/** The report that an activity writes; null when another activity has taken over. */
export async function findUsgReportOf(sql: Sql, activityId: number): Promise<UsgReportRow | null> {
  const rows = await sql.query<UsgReportRow>(`${SELECT} where u.activity_id = :activityId`, {
    activityId,
  });
  return rows[0] ?? null;
}

/** Marks a report as being written. @returns false when its activity has ended */
export async function beginReportActivity(sql: Sql, activityId: number, now: Date): Promise<boolean> {
  const rows = await sql.query(
    `update activity set status = 'delivered', delivery_time = coalesce(delivery_time, :now), modification_time = :now
     where id = :activityId and (${BEGINS} or status = 'delivered') returning id`,
    { activityId, now },
  );
  return rows.length > 0;
}

/** @param percent - 1 to 99. @returns false when its activity has ended */
export async function showReportProgress(sql: Sql, activityId: number, percent: number, now: Date): Promise<boolean> {
  const rows = await sql.query(
    `update activity set progress = :percent, modification_time = :now where id = :activityId and status = 'delivered' returning id`,
    { activityId, percent, now },
  );
  return rows.length > 0;
}

export interface ReportEnd {
  status: 'succeeded' | 'failed' | 'canceled';
  text: string | null;
  now: Date;
}

/** Ends the activity of a report. @returns false when it had already ended */
export async function endReportActivity(sql: Sql, activityId: number, { status, text, now }: ReportEnd) {
  const rows = await sql.query(
    `update activity set status = :status, result_text = :text, result_code = case when :status = 'succeeded' then 0 end,
       progress = case :status when 'succeeded' then 100 when 'failed' then -1 else progress end,
       completion_time = :now, modification_time = :now
     where id = :activityId and type = '${REPORT_ACTIVITY}' and ${ENDS} returning id`,
    { activityId, status, text, now },
  );
  return rows.length > 0;
}

/** Open reports requested before a time; at most `limit`, least recently updated first. */
export function openReportActivities(sql: Sql, requestedBefore: Date, limit: number) {
  return sql.query<{ id: number; modification_time: Date }>(
    `select a.id, a.modification_time from usg_report u join activity a on a.id = u.activity_id
     where a.completion_time is null and a.creation_time <= :requestedBefore order by a.modification_time, a.id limit :limit`,
    { requestedBefore, limit },
  );
}

// A row that is there is locked, though not updated; one that retention is deleting is inserted again.
const LOCK = `
  insert into usg_report (account_id, profile_id, path, range_start, range_end, detailed)
  values (:account_id, :profile_id, :path, :range_start, :range_end, :detailed)
  on conflict (account_id, path) do update set path = excluded.path where false`;

// A report that is restarted is already delivered.
const BEGINS = transitionGuard('status', ['undelivered'], 'delivered');

const ENDS = transitionGuard('status', ['undelivered', 'delivered'], 'succeeded', 'failed', 'canceled');

// A report whose file was deleted has no valid fingerprint.
const SELECT = `
  select u.id, u.account_id, u.profile_id, u.path, u.range_start, u.range_end, u.detailed, u.activity_id,
    coalesce(a.completion_time is null and a.id is not null, false) as open, case when f.id is not null then u.fingerprint end as fingerprint
  from usg_report u
  left join activity a on a.id = u.activity_id
  left join stored_file f on f.id = u.file_id and f.key = u.path`;
