import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';

export interface ReportedRuns {
  profile_id: number;
  range_start: Date;
  range_end: Date;
  kept_since: Date | null;
}

export type RunsState = {
  /** Changes whenever one of the runs changes. */
  fingerprint: string;
  oldest_run: Date | null;
  computers: number;
};

export type ReportRow = {
  run_id: number;
  started_at: Date;
  computer_id: number;
  title: string | null;
  passed: number;
  failed: number;
  reported_at: Date | null;
  rule_set_id: number | null;
  results: string | null;
};

export type ReportRule = Omit<Row<'usg_rule'>, 'id' | 'account_id' | 'digest'>;

/** Time before which the runs of an account are no longer kept; null when all are. */
export async function readKeptSince(sql: Sql, accountId: number, now: Date): Promise<Date | null> {
  const rows = await sql.query<{ since: Date | null }>(
    `select case when audit_retention_days >= 0 then :now::timestamptz - make_interval(days => audit_retention_days) end as since
     from account where id = :accountId`,
    { accountId, now },
  );
  return rows[0]?.since ?? null;
}

/** Zero computers and null as oldest run when there are no runs. */
export async function readRunsState(sql: Sql, runs: ReportedRuns): Promise<RunsState> {
  const rows = await sql.query<RunsState>(STATE, runs);
  return rows[0]!;
}

/** Whether any of the runs has no audit in progress and no open operation. */
export async function hasEndedRuns(sql: Sql, runs: ReportedRuns): Promise<boolean> {
  return (await sql.query(ENDED, runs)).length > 0;
}

/** Whether any run started in the outer range but outside the inner one. */
export async function hasRunsBetween(sql: Sql, outer: ReportedRuns, inner: ReportedRuns): Promise<boolean> {
  const text = `select ${RUNS} and not (r.started_at >= :from and r.started_at < :to) limit 1`;
  const rows = await sql.query(text, { ...outer, from: inner.range_start, to: inner.range_end });
  return rows.length > 0;
}

/** Every computer of every run in a range, by run and computer, in batches. @param tx - a transaction, for a cursor */
export async function* readReportRows(tx: Sql, runs: ReportedRuns, isDetailed: boolean): AsyncGenerator<ReportRow[]> {
  await tx.query(`declare report_row no scroll cursor for ${isDetailed ? DETAILED : SUMMARY}`, runs);
  for (;;) {
    const rows = await tx.query<ReportRow>(`fetch ${FETCHED} from report_row`);
    if (rows.length > 0) yield rows;
    if (rows.length < FETCHED) break;
  }
  await tx.query('close report_row');
}

/** The rules of a set, in its order; empty for an unknown set. */
export async function readRuleSet(sql: Sql, id: number): Promise<ReportRule[]> {
  return sql.query<ReportRule>(
    `select r.rule, r.severity, r.title, r.identifiers, r.description, r.rationale
     from usg_rule_set s cross join lateral unnest(s.rule_ids) with ordinality as x(rule_id, place)
     join usg_rule r on r.id = x.rule_id where s.id = :id order by x.place`,
    { id },
  );
}

const FETCHED = 1_000;

const RUNS = `
  from usg_run r
  where r.profile_id = :profile_id and r.started_at >= :range_start and r.started_at < :range_end
    and (:kept_since::timestamptz is null or r.started_at >= :kept_since) and r.activity_id is not null`;

const STATE = `
  select coalesce(md5(string_agg(concat_ws(':', r.id, r.computer_count, r.not_started_count, r.in_progress_count,
      r.passing_count, r.failing_count, r.changed_at), ',' order by r.id)), '') as fingerprint,
    min(r.started_at) as oldest_run, coalesce(sum(r.computer_count), 0)::int as computers
  ${RUNS}`;

const ENDED = `
  select ${RUNS} and r.in_progress_count = 0
    and not exists (select from activity a where a.id = r.activity_id and a.open_count > 0)
  limit 1`;

const rows = (columns: string, condition: string) => `
  select u.run_id, r.started_at, u.computer_id, ${columns}
  from (select r.id, r.started_at ${RUNS}) r
  join usg_audit u on u.run_id = r.id
  ${condition}
  order by r.started_at, r.id, u.computer_id`;

const SUMMARY = rows(
  `coalesce(c.title, g.title) as title, u.passed_count as passed, u.failed_count as failed, u.reported_at`,
  `left join computer c on c.id = u.computer_id left join removed_computer g on g.id = u.computer_id`,
);
const DETAILED = rows('u.rule_set_id, u.results, u.reported_at', 'where u.rule_set_id is not null');
