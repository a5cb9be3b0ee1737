import type { UsgMode } from '../../domain/compliance/profile.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';

/** Results at the end of a day in UTC. */
export type ComplianceDay = { date: string; passing: number; failing: number; not_audited: number };

interface ComplianceFilter {
  accountId: number;
  view: GroupScope;
  /** One profile, archived or not; null for all active ones. */
  profileId: number | null;
  days: number;
}

/** The last days up to that of `now`, oldest first. */
export function readComplianceDays(sql: Sql, filter: ComplianceFilter, now: Date): Promise<ComplianceDay[]> {
  return sql.query<ComplianceDay>(DAYS, { ...filter, view: groupsOf(filter.view), now });
}

export type UsgRunRow = {
  activity_id: number | null;
  scheduled_time: Date | null;
  started_at: Date;
  open: boolean;
  computers: number;
  passing: number;
  failing: number;
  in_progress: number;
  not_started: number;
};

/** One page of a profile's runs, newest first. */
export async function listUsgRuns(sql: Sql, profileId: number, page: PageRequest) {
  const [counted, results] = await Promise.all([
    sql.query<{ count: number }>(COUNT_RUNS, { profileId }),
    sql.query<UsgRunRow>(RUNS, { profileId, ...page }),
  ]);
  return { count: counted[0]!.count, results };
}

interface ComputerAuditFilter {
  accountId: number;
  computer: number;
  /** The access groups whose profiles count. */
  view: GroupScope;
}

export type UsgAuditRow = {
  profile_id: number;
  title: string;
  mode: UsgMode;
  activity_id: number | null;
  started_at: Date;
  reported_at: Date | null;
  state: 'not-started' | 'in-progress' | 'pass' | 'fail';
  open: boolean;
  passed_rules: number | null;
  failed_rules: number | null;
  reason: string | null;
};

/** One page of the audits of a computer, newest first. */
export async function listUsgAudits(sql: Sql, filter: ComputerAuditFilter, page: PageRequest) {
  const values = { ...filter, view: groupsOf(filter.view) };
  const [counted, results] = await Promise.all([
    sql.query<{ count: number }>(COUNT_AUDITS, values),
    sql.query<UsgAuditRow>(AUDITS, { ...values, ...page }),
  ]);
  return { count: counted[0]!.count, results };
}

// A run counts from its day on until the day of the next one that has results. One without results counts only while
// there is nothing before it.
const DAYS = `
  with first as materialized (select (:now::timestamptz at time zone 'UTC')::date - (:days::int - 1) as day
  ), run as materialized (
    select r.profile_id, r.id, r.started_at, (r.started_at at time zone 'UTC')::date as day, r.passing_count,
      r.failing_count, r.not_started_count + r.in_progress_count as missing_count,
      coalesce(bool_or(r.passing_count + r.failing_count > 0) over (
        partition by r.profile_id order by r.started_at, r.id rows between unbounded preceding and 1 preceding), false) as late
    from usg_profile p join usg_run r on r.profile_id = p.id and r.activity_id is not null
    where p.account_id = :accountId and (:view::int[] is null or p.access_group_id = any(:view))
      and case when :profileId::int is null then not p.archived else p.id = :profileId end
  ), period as (
    select r.*, lead(r.day) over (partition by r.profile_id order by r.started_at, r.id) as until
    from run r where r.passing_count + r.failing_count > 0 or not r.late
  ), result as (
    select d.day::date as day, sum(passing_count) as passing, sum(failing_count) as failing, sum(missing_count) as missing
    from period, first, generate_series(
      greatest(period.day, first.day), coalesce(period.until, (:now::timestamptz at time zone 'UTC')::date + 1) - 1,
      interval '1 day') as d(day)
    group by d.day
  )
  select (first.day + n)::text as date, coalesce(passing, 0)::int as passing, coalesce(failing, 0)::int as failing,
    coalesce(missing, 0)::int as not_audited
  from first cross join generate_series(0, :days::int - 1) n left join result on result.day = first.day + n
  order by n`;

const COUNT_RUNS = `
  select count(*)::int as count from usg_run where profile_id = :profileId and activity_id is not null`;

// The activity of an earlier run may have been deleted.
const RUNS = `
  select a.id as activity_id, r.nominal_time as scheduled_time, r.started_at,
    coalesce(a.open_count, 0) > 0 or r.in_progress_count > 0 as open, r.computer_count as computers,
    r.passing_count as passing, r.failing_count as failing, r.in_progress_count as in_progress,
    r.not_started_count as not_started
  from (
    select * from usg_run where profile_id = :profileId and activity_id is not null
    order by started_at desc, id desc limit :limit offset :offset) r
  left join activity a on a.id = r.activity_id
  order by r.started_at desc, r.id desc`;

const AUDITED = `usg_audit u join usg_profile p on p.id = u.profile_id`;

const VISIBLE = `u.computer_id = :computer and p.account_id = :accountId
      and (:view::int[] is null or p.access_group_id = any(:view))`;

const COUNT_AUDITS = `select count(*)::int as count from ${AUDITED} where ${VISIBLE}`;

// The activity of an earlier run may have been deleted. A group has far more operations than a computer: `+ 0`.
const AUDITS = `
  with page as materialized (
    select u.*, p.title, p.mode, r.started_at, r.activity_id
    from ${AUDITED} join usg_run r on r.id = u.run_id
    where ${VISIBLE} order by r.started_at desc, r.id desc limit :limit offset :offset
  )
  select u.profile_id, u.title, u.mode, a.id as activity_id, u.started_at, u.reported_at, u.state,
    u.state = 'in-progress' or (u.state = 'not-started' and coalesce(a.open_count, 0) > 0 and exists (
      select from activity o
      where o.computer_id = :computer and o.parent_id + 0 = a.id and ${isOpen('o.status')})) as open,
    case when u.rule_set_id is not null then u.passed_count end as passed_rules,
    case when u.rule_set_id is not null then u.failed_count end as failed_rules, u.reason
  from page u left join activity a on a.id = u.activity_id
  order by u.started_at desc, u.run_id desc`;
