import type { Sql } from '../database/sql.ts';

/** Deletes reports that are too old or cover expired runs, with their files. @returns how many */
export async function deleteExpiredReports(tx: Sql, now: Date, limit: number): Promise<number> {
  const due = await tx.query<{ id: number }>(DUE_REPORTS, { now, limit });
  const still = await tx.query<{ id: number }>(STILL_DUE, { ids: due.map(({ id }) => id) });
  const ids = still.map(({ id }) => id);
  await tx.query('delete from stored_file where id in (select file_id from usg_report where id = any(:ids::int[]))', {
    ids,
  });
  return countOf(tx, 'delete from usg_report where id = any(:ids::int[])', { ids });
}

/** Deletes unreachable files. @returns how many */
export function deleteLostFiles(tx: Sql, now: Date, limit: number): Promise<number> {
  return countOf(tx, DELETE_LOST_FILES, { now, limit });
}

/** Locks runs past their account's retention period; skips locked ones. */
export async function lockExpiredRuns(tx: Sql, now: Date, limit: number): Promise<number[]> {
  const runs = await tx.query<{ id: number }>(DUE_RUNS, { now, limit });
  return runs.map(({ id }) => id);
}

/** Deletes results of computers in some runs. @returns how many */
export function deleteResults(tx: Sql, runs: readonly number[], limit: number): Promise<number> {
  return countOf(tx, DELETE_RESULTS, { runs, limit });
}

/** Deletes runs without results; a date still planned is kept, or it would count as missed. @returns how many */
export async function deleteRuns(tx: Sql, runs: readonly number[]): Promise<number> {
  const dated = await countOf(tx, KEEP_DATES, { runs });
  return dated + (await countOf(tx, DELETE_RUNS, { runs }));
}

async function countOf(tx: Sql, text: string, values: object): Promise<number> {
  const counting = `with changed as (${text} returning 1) select count(*) from changed`;
  const [row] = await tx.query<{ count: number }>(counting, values);
  return row!.count;
}

const KEPT_SINCE = `:now::timestamptz - make_interval(days => a.audit_retention_days)`;

const DUE_REPORTS = `
  select u.id from usg_report u
  join account a on a.id = u.account_id and a.audit_retention_days >= 0
  join stored_file f on f.id = u.file_id
  where (f.creation_time < ${KEPT_SINCE} or u.oldest_run < ${KEPT_SINCE})
    and not exists (select from activity k where k.id = u.activity_id and k.completion_time is null)
  order by u.id limit :limit for update of u skip locked`;

// A request for a report locks its row until the activity is visible to statements that start later.
const STILL_DUE = `
  select u.id from usg_report u
  where u.id = any(:ids::int[])
    and not exists (select from activity k where k.id = u.activity_id and k.completion_time is null)`;

const DELETE_LOST_FILES = `
  delete from stored_file where id in (
    select f.id from stored_file f
    where f.key is null and f.creation_time < :now::timestamptz - interval '1 hour'
      and not exists (select from activity k where k.id = f.activity_id and k.completion_time is null)
    limit :limit)`;

const DUE_RUNS = `
  select r.id from usg_run r
  join account a on a.id = r.account_id and a.audit_retention_days >= 0
  join usg_profile p on p.id = r.profile_id
  where r.started_at < ${KEPT_SINCE} and r.in_progress_count = 0
    and (r.activity_id is not null or r.nominal_time is null or r.nominal_time <> all(p.planned_dates))
    and not exists (select from activity k where k.id = r.activity_id and k.open_count > 0)
  order by r.started_at, r.id limit :limit for update of r skip locked`;

const DELETE_RESULTS = `
  delete from usg_audit where (computer_id, profile_id, run_id) in (
    select computer_id, profile_id, run_id from usg_audit where run_id = any(:runs::int[]) limit :limit)`;

const KEEP_DATES = `
  update usg_run r set activity_id = null
  from usg_profile p
  where r.id = any(:runs::int[]) and p.id = r.profile_id and r.nominal_time = any(p.planned_dates)`;

const DELETE_RUNS = `
  delete from usg_run r
  where r.id = any(:runs::int[])
    and not exists (select from usg_profile p where p.id = r.profile_id and r.nominal_time = any(p.planned_dates))`;
