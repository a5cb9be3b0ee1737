import type { Database, Sql } from '../database/sql.ts';

/** What one step removes at most. */
export interface AuditRetentionStep {
  now: Date;
  /** Results of computers. */
  results: number;
  /** Files, and runs. */
  objects: number;
}

/**
 * Removes some of what accounts do not keep any more: reports that are too old or tell of runs that are, then results
 * and runs; and files that nobody can find. In one transaction.
 *
 * A run that has not ended is kept. Of a run whose date is still planned the date is kept, or it would count as missed.
 *
 * @returns how much went, and whether there may be more
 * @remarks Safe to repeat and to run twice at once.
 * @see docs/api-conventions.md#reports-and-files
 */
export function forgetAudits(db: Database, step: AuditRetentionStep): Promise<{ gone: number; more: boolean }> {
  const { now, results, objects } = step;
  return db.transaction(async (tx) => {
    const files = await forgetReports(tx, now, objects);
    const lost = await count(tx, LOST_FILES, [now, objects]);
    if (files + lost > 0) return { gone: files + lost, more: true };
    const runs = await tx.query<{ id: number }>(DUE_RUNS, [now, objects]);
    const ids = runs.map(({ id }) => id);
    const audits = await count(tx, RESULTS, [ids, results]);
    if (audits === results) return { gone: audits, more: true };
    const dated = await count(tx, KEEP_DATES, [ids]);
    const gone = await count(tx, FORGET_RUNS, [ids]);
    return { gone: audits + gone + dated, more: runs.length === objects };
  });
}

async function forgetReports(tx: Sql, now: Date, objects: number): Promise<number> {
  const due = await tx.query<{ id: number }>(DUE_REPORTS, [now, objects]);
  const still = await tx.query<{ id: number }>(STILL_DUE, [due.map(({ id }) => id)]);
  const ids = still.map(({ id }) => id);
  await tx.query('delete from stored_file where id in (select file_id from usg_report where id = any($1::int[]))', [
    ids,
  ]);
  return count(tx, 'delete from usg_report where id = any($1::int[])', [ids]);
}

async function count(tx: Sql, text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `with gone as (${text} returning 1) select count(*) from gone`,
    values,
  );
  return row!.count;
}

const KEPT_SINCE = `$1::timestamptz - make_interval(days => a.audit_retention_days)`;

const DUE_REPORTS = `
  select u.id from usg_report u
  join account a on a.id = u.account_id and a.audit_retention_days >= 0
  join stored_file f on f.id = u.file_id
  where (f.creation_time < ${KEPT_SINCE} or u.oldest_run < ${KEPT_SINCE})
    and not exists (select from activity k where k.id = u.activity_id and k.completion_time is null)
  order by u.id limit $2 for update of u skip locked`;

// Whoever asks for a report holds its row until the activity is there to be seen: by a statement that begins later.
const STILL_DUE = `
  select u.id from usg_report u
  where u.id = any($1::int[])
    and not exists (select from activity k where k.id = u.activity_id and k.completion_time is null)`;

const LOST_FILES = `
  delete from stored_file where id in (
    select f.id from stored_file f
    where f.key is null and f.creation_time < $1::timestamptz - interval '1 hour'
      and not exists (select from activity k where k.id = f.activity_id and k.completion_time is null)
    limit $2)`;

const DUE_RUNS = `
  select r.id from usg_run r
  join account a on a.id = r.account_id and a.audit_retention_days >= 0
  join usg_profile p on p.id = r.profile_id
  where r.started_at < ${KEPT_SINCE} and r.in_progress_count = 0
    and (r.activity_id is not null or r.nominal_time is null or r.nominal_time <> all(p.planned_dates))
    and not exists (select from activity k where k.id = r.activity_id and k.open_count > 0)
  order by r.started_at, r.id limit $2 for update of r skip locked`;

const RESULTS = `
  delete from usg_audit where (computer_id, profile_id, run_id) in (
    select computer_id, profile_id, run_id from usg_audit where run_id = any($1::int[]) limit $2)`;

const KEEP_DATES = `
  update usg_run r set activity_id = null
  from usg_profile p
  where r.id = any($1::int[]) and p.id = r.profile_id and r.nominal_time = any(p.planned_dates)`;

const FORGET_RUNS = `
  delete from usg_run r
  where r.id = any($1::int[])
    and not exists (select from usg_profile p where p.id = r.profile_id and r.nominal_time = any(p.planned_dates))`;
