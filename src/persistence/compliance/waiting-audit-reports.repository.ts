import type { Sql } from '../database/sql.ts';

/** A report that is not ingested yet; without a run when its operation belongs to none. */
export interface WaitingReport {
  activity_id: number;
  computer_id: number;
  received_at: Date;
  account_id: number | null;
  run_id: number | null;
}

/** Locks some waiting reports until the transaction ends, oldest operations first; skips locked ones. */
export async function claimWaitingReports(tx: Sql, limit: number): Promise<WaitingReport[]> {
  return tx.query<WaitingReport>(CLAIM, { limit });
}

export async function readWaitingReport(tx: Sql, activityId: number): Promise<Buffer> {
  const rows = await tx.query<{ report: Buffer }>(
    'select report from usg_audit_report where activity_id = :activityId',
    { activityId },
  );
  return rows[0]!.report;
}

export async function deleteWaitingReports(tx: Sql, activityIds: readonly number[]): Promise<void> {
  await tx.query('delete from usg_audit_report where activity_id = any(:activityIds::int[])', { activityIds });
}

const CLAIM = `
  with claimed as materialized (
    select activity_id, computer_id, received_at from usg_audit_report
    order by activity_id limit :limit for update skip locked
  )
  select c.*, a.account_id, l.usg_run_id as run_id
  from claimed c left join activity a on a.id = c.activity_id left join lane l on l.id = a.lane_id
  order by c.activity_id`;
