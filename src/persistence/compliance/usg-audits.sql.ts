import type { Sql } from '../database/sql.ts';

export interface AuditVerdict {
  runId: number;
  computerId: number;
  state: 'pass' | 'fail';
  reason: string | null;
  passed: number;
  failed: number;
  /** `results` has a letter for each rule of this set; both null without a valid report. */
  ruleSetId: number | null;
  results: string | null;
  reportedAt: Date | null;
}

type AuditKey = { run_id: number; computer_id: number };

type StatusChanges = ReadonlyArray<{ from: string; to: string; ids: readonly number[] }>;

/** Updates audits with their operations, before the activity's row is locked. A successful one waits for its report. */
export async function recordAuditProgress(tx: Sql, runId: number, changes: StatusChanges, now: Date): Promise<void> {
  const real = changes.filter(({ from, to }) => from !== to);
  const ids = real.flatMap((change) => change.ids);
  if (ids.length === 0) return;
  const statuses = real.flatMap(({ to, ids }) => ids.map(() => to));
  await tx.query(LOCK_TOUCHED, { runId, ids });
  const [row] = await tx.query<{ unread: boolean }>(PROGRESS, { runId, ids, statuses, now });
  if (row?.unread) await tx.query(APPEND_REASONS, { runId, ids });
}

/** Stores verdicts, the last one per computer, and updates their runs. Idempotent. @returns those with a new reason */
export async function saveVerdicts(tx: Sql, verdicts: readonly AuditVerdict[], now: Date): Promise<AuditKey[]> {
  if (verdicts.length === 0) return [];
  const runs = verdicts.map(({ runId }) => runId);
  const computers = verdicts.map(({ computerId }) => computerId);
  await tx.query(LOCK_EVALUATED, { runs, computers });
  return tx.query<AuditKey>(SAVE, {
    runs,
    computers,
    states: verdicts.map(({ state }) => state),
    reasons: verdicts.map(({ reason }) => reason),
    passedCounts: verdicts.map(({ passed }) => passed),
    failedCounts: verdicts.map(({ failed }) => failed),
    ruleSetIds: verdicts.map(({ ruleSetId }) => ruleSetId),
    results: verdicts.map(({ results }) => results),
    reportedAts: verdicts.map(({ reportedAt }) => reportedAt),
    now,
  });
}

/** Locks batches before verdicts and result texts change: batches lock their own row, then operations, then audits. */
export async function lockBatchesOfAudits(tx: Sql, activityIds: readonly number[]): Promise<void> {
  if (activityIds.length > 0) await tx.query(LOCK_BATCHES, { activityIds });
}

/** Appends a reason to the result text of succeeded operations. See {@link lockBatchesOfAudits}. */
export async function appendReasons(tx: Sql, reasons: ReadonlyArray<{ activityId: number; reason: string }>) {
  await tx.query(APPEND, {
    activityIds: reasons.map(({ activityId }) => activityId),
    reasons: reasons.map(({ reason }) => reason),
  });
}

/** Locks computers whose audit succeeded before a time without a report; skips locked ones. */
export function claimUnreported(tx: Sql, before: Date, limit: number): Promise<AuditKey[]> {
  return tx.query<AuditKey>(UNREPORTED, { before, limit });
}

export type WaitingReport = {
  activity_id: number;
  computer_id: number;
  received_at: Date;
  account_id: number | null;
  run_id: number | null;
};

/** Whether reports wait. One statement, where a claim needs a transaction. */
export async function hasWaitingReports(db: Sql): Promise<boolean> {
  return (await db.query('select from usg_audit_report limit 1', {}, 'has-waiting-reports')).length > 0;
}

/** Locks some waiting reports until the transaction ends, oldest operations first; skips locked ones. */
export function claimWaitingReports(tx: Sql, limit: number): Promise<WaitingReport[]> {
  return tx.query<WaitingReport>(CLAIM, { limit });
}

/** The report as received. The caller has claimed it. */
export async function readWaitingReport({ em }: Sql, activityId: number): Promise<Buffer> {
  const reports = em.getKysely().selectFrom('usg_audit_report').select('report');
  return (await reports.where('activity_id', '=', activityId).executeTakeFirstOrThrow()).report;
}

/** Idempotent. */
export async function deleteWaitingReports(tx: Sql, activityIds: readonly number[]): Promise<void> {
  await tx.query('delete from usg_audit_report where activity_id = any(:activityIds::int[])', { activityIds });
}

// A new run has no statistics: rows are found by key one by one, then by `ctid`; other joins could be quadratic.
const locked = (audit: { computer: string; profile: string; run: string }) => `
    select u.ctid as place, u.profile_id, u.state as old, u.reason as old_reason, u.reported_at as old_reported_at
    from usg_audit u
    where u.computer_id = ${audit.computer} and u.profile_id = ${audit.profile} and u.run_id = ${audit.run} for update`;

// Locked before the update by `ctid`: while a statement waits for a lock, the row may get a `ctid` it does not see.
const LOCK_TOUCHED = `
  select from (select a.computer_id as computer, r.profile_id as profile from activity a, usg_run r
    where a.id = any(:ids::int[]) and r.id = :runId order by a.computer_id) t
  cross join lateral (${locked({ computer: 't.computer', profile: 't.profile', run: ':runId' })}) u`;

const LOCK_EVALUATED = `
  select from (select v.*, r.profile_id as profile from unnest(:runs::int[], :computers::int[]) as v(run, computer)
    join usg_run r on r.id = v.run order by v.run, v.computer) v
  cross join lateral (${locked({ computer: 'v.computer', profile: 'v.profile', run: 'v.run' })}) u`;

const LOCK_BATCHES = `
  select from lane where id in (select lane_id from activity where id = any(:activityIds::int[])) order by id for update`;

const counted = (state: string) =>
  `count(*) filter (where new = '${state}') - count(*) filter (where old = '${state}')`;

const DIFFERENCES = `${counted('not-started')} as not_started, ${counted('in-progress')} as in_progress,
      ${counted('pass')} as passing, ${counted('fail')} as failing`;

const MOVE_COUNTERS = `
    not_started_count = r.not_started_count + d.not_started, in_progress_count = r.in_progress_count + d.in_progress,
    passing_count = r.passing_count + d.passing, failing_count = r.failing_count + d.failing`;

// The audit is the operation that no other depends on. After a canceled one there is no audit either.
const PROGRESS = `
  with touched as materialized (
    select a.computer_id, bool_or(n.status = 'failed') as failed,
      bool_or(n.status = 'canceled' or exists (
        select from activity d where d.blocked_by = a.id and d.status = 'canceled')) as canceled,
      bool_or(n.status in ('delivered', 'succeeded')) as started,
      bool_or(n.status = 'succeeded' and not exists (select from activity d where d.blocked_by = a.id)) as audited
    from unnest(:ids::int[], :statuses::text[]) as n(id, status) join activity a on a.id = n.id
    group by a.computer_id
  ), before as materialized (
    select t.*, u.*
    from (select t.*, r.profile_id as profile from touched t, usg_run r where r.id = :runId order by t.computer_id) t
    cross join lateral (${locked({ computer: 't.computer_id', profile: 't.profile', run: ':runId' })}) u
  ), after as (
    update usg_audit u set
      state = case
        when b.failed then 'fail'
        when b.old in ('pass', 'fail') then b.old
        when b.canceled then 'not-started'
        when b.started then 'in-progress'
        else b.old end,
      awaiting_since = case when b.audited and b.old_reported_at is null and b.old <> 'fail' then :now::timestamptz end
    from before b
    where u.ctid = b.place
      and (b.failed or b.audited or b.old = 'not-started' or (b.canceled and b.old = 'in-progress'))
    returning b.old, u.state as new
  ), difference as (select ${DIFFERENCES} from after where old <> new
  ), moved as (
    update usg_run r set changed_at = :now, ${MOVE_COUNTERS} from difference d
    where r.id = :runId and exists (select from after where old <> new)
  )
  select exists (select from before where audited and old_reported_at is not null and old_reason is not null) as unread`;

const WITH_REASON = `concat_ws(E'\\n', nullif(a.result_text, ''), s.reason)`;

const APPEND_REASONS = `
  update activity a set result_text = ${WITH_REASON}
  from activity o join usg_run r on r.id = :runId
  join usg_audit s on s.computer_id = o.computer_id and s.profile_id = r.profile_id and s.run_id + 0 = r.id
  where o.id = any(:ids::int[]) and a.id = o.id and a.status = 'succeeded' and s.reported_at is not null
    and s.reason is not null and not exists (select from activity d where d.blocked_by = a.id)`;

const APPEND = `
  update activity a set result_text = ${WITH_REASON}
  from unnest(:activityIds::int[], :reasons::text[]) as s(id, reason) where a.id = s.id and a.status = 'succeeded'`;

const SAVE = `
  with verdict as materialized (
    select distinct on (run_id, computer_id) *
    from unnest(:runs::int[], :computers::int[], :states::text[], :reasons::text[], :passedCounts::int[], :failedCounts::int[], :ruleSetIds::int[], :results::text[],
      :reportedAts::timestamptz[]) with ordinality
      as v(run_id, computer_id, state, reason, passed, failed, rule_set_id, results, reported_at, nth)
    order by run_id, computer_id, nth desc
  ), before as materialized (
    select v.*, u.*
    from (select v.*, r.profile_id as profile from verdict v join usg_run r on r.id = v.run_id
      order by v.run_id, v.computer_id) v
    cross join lateral (${locked({ computer: 'v.computer_id', profile: 'v.profile', run: 'v.run_id' })}) u
  ), after as (
    update usg_audit u set state = b.state, reason = b.reason, passed_count = b.passed, failed_count = b.failed,
      rule_set_id = b.rule_set_id, results = b.results, reported_at = b.reported_at, awaiting_since = null
    from before b
    where u.ctid = b.place
    returning u.run_id, u.computer_id, b.old, u.state as new, u.reason is distinct from b.old_reason and u.reason is not null as explained
  ), difference as (select run_id, ${DIFFERENCES} from after group by run_id
  ), locked as materialized (
    select id from usg_run where id in (select run_id from difference) order by id for update
  ), moved as (
    update usg_run r set changed_at = :now, ${MOVE_COUNTERS}
    from difference d join locked l on l.id = d.run_id where r.id = d.run_id
  )
  select run_id, computer_id from after where explained`;

const UNREPORTED = `
  select u.run_id, u.computer_id from usg_audit u
  where u.awaiting_since < :before and not exists (
    select from usg_audit_report w join activity a on a.id = w.activity_id join lane l on l.id = a.lane_id
    where w.computer_id = u.computer_id and l.usg_run_id = u.run_id)
  order by u.awaiting_since limit :limit for update of u skip locked`;

const CLAIM = `
  with claimed as materialized (
    select activity_id, computer_id, received_at from usg_audit_report
    order by activity_id limit :limit for update skip locked
  )
  select c.*, a.account_id, l.usg_run_id as run_id
  from claimed c left join activity a on a.id = c.activity_id left join lane l on l.id = a.lane_id
  order by c.activity_id`;
