import type { UsgMode } from '../../domain/compliance/profile.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';
import { lastRunOf, passRateOf } from './usg-runs.repository.ts';

export interface UsgProfileRow {
  id: number;
  account_id: number;
  access_group_id: number;
  access_group: string;
  creator_id: number;
  name: string;
  title: string;
  all_computers: boolean;
  tags: string[];
  benchmark: string;
  mode: UsgMode;
  schedule: string;
  /** IANA name; the schedule is in its local time. */
  timezone: string;
  start_date: Date;
  /** Ascending; may start with past dates. */
  planned_dates: Date[];
  restart_deliver_delay: number;
  restart_deliver_delay_window: number;
  tailoring_file_key: string | null;
  archived: boolean;
  creation_time: Date;
  modification_time: Date;
  /** Days that results are kept; negative: forever. */
  retention_period: number;
}

export interface UsgProfileFilter {
  accountId: number;
  view: GroupScope;
  /** Case-insensitive part of the title; null for all. */
  search: string | null;
  /** Null for both. */
  archived: boolean | null;
  /** Inclusive bounds of the last run's pass rate; null: no bound. */
  passRateFrom: number | null;
  passRateTo: number | null;
  /** Restricts to these; null for all. */
  ids: readonly number[] | null;
}

export type NewUsgProfile = Omit<
  UsgProfileRow,
  'id' | 'access_group' | 'retention_period' | 'archived' | 'modification_time' | 'tailoring_file_key'
>;

export type UsgProfileChange = Partial<
  Pick<
    UsgProfileRow,
    | 'title'
    | 'all_computers'
    | 'tags'
    | 'schedule'
    | 'timezone'
    | 'planned_dates'
    | 'restart_deliver_delay'
    | 'restart_deliver_delay_window'
  >
>;

/** One page of profiles, oldest first, and the total number. */
export async function listUsgProfiles(
  sql: Sql,
  filter: UsgProfileFilter,
  page: PageRequest,
): Promise<{ count: number; rows: UsgProfileRow[] }> {
  const values = filterValues(filter);
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`select count(*)::int as count from usg_profile p where ${MATCHING}`, values),
    sql.query<UsgProfileRow>(LIST, [...values, page.limit, page.offset]),
  ]);
  return { count: counted[0]!.count, rows };
}

export async function findUsgProfileIds(sql: Sql, filter: UsgProfileFilter): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(
    `select p.id from usg_profile p where ${MATCHING}`,
    filterValues(filter),
  );
  return rows.map(({ id }) => id);
}

/** One profile of an account in the visible access groups, or null. */
export async function findUsgProfile(
  sql: Sql,
  scope: { accountId: number; view: GroupScope },
  id: number,
): Promise<UsgProfileRow | null> {
  const rows = await sql.query<UsgProfileRow>(FIND, [scope.accountId, groupsOf(scope.view), id]);
  return rows[0] ?? null;
}

/** One profile of any account, its row locked until the transaction ends; null when there is none. */
export async function lockUsgProfile(tx: Sql, id: number): Promise<UsgProfileRow | null> {
  const locked = await tx.query('select id from usg_profile where id = :id for update', { id });
  return locked.length === 0 ? null : readUsgProfile(tx, id);
}

/** One profile of any account, or null. */
export async function readUsgProfile(sql: Sql, id: number): Promise<UsgProfileRow | null> {
  const rows = await sql.query<UsgProfileRow>(`${SELECT} where p.id = :id`, { id });
  return rows[0] ?? null;
}

/** @returns id of the new profile */
export async function insertUsgProfile(tx: Sql, profile: NewUsgProfile): Promise<number> {
  const rows = await tx.query<{ id: number }>(INSERT, profile);
  return rows[0]!.id;
}

export async function setTailoringFile(tx: Sql, id: number, key: string): Promise<void> {
  await tx.query('update usg_profile set tailoring_file_key = :key where id = :id', { id, key });
}

export async function updateUsgProfile(tx: Sql, id: number, change: UsgProfileChange, now: Date): Promise<void> {
  await tx.query(UPDATE, {
    id,
    now,
    title: change.title ?? null,
    all_computers: change.all_computers ?? null,
    tags: change.tags ?? null,
    schedule: change.schedule ?? null,
    timezone: change.timezone ?? null,
    planned_dates: change.planned_dates ?? null,
    restart_deliver_delay: change.restart_deliver_delay ?? null,
    restart_deliver_delay_window: change.restart_deliver_delay_window ?? null,
  });
}

/** Does not count as an edit. */
export async function setPlannedDates(tx: Sql, id: number, dates: readonly Date[]): Promise<void> {
  await tx.query('update usg_profile set planned_dates = :dates where id = :id', { id, dates });
}

/** Also clears the planned dates. */
export async function archiveUsgProfile(tx: Sql, id: number, now: Date): Promise<void> {
  await tx.query(
    `update usg_profile set archived = true, planned_dates = '{}', modification_time = :now where id = :id`,
    { id, now },
  );
}

/** By profile: the latest date up to `dueBefore` without a run, of all active profiles or one. */
export async function missedUsgRuns(
  sql: Sql,
  dueBefore: Date,
  { profileId, limit }: { profileId?: number | undefined; limit: number },
): Promise<Array<{ profileId: number; scheduledTime: Date }>> {
  return sql.query<{ profileId: number; scheduledTime: Date }>(MISSED, {
    dueBefore,
    limit,
    profileId: profileId ?? null,
  });
}

/** Active profiles with future dates, except those created or changed within the last two minutes. */
export async function usgProfilesWithDates(
  sql: Sql,
  now: Date,
): Promise<Array<Pick<UsgProfileRow, 'id' | 'mode' | 'schedule' | 'timezone'>>> {
  return sql.query<Pick<UsgProfileRow, 'id' | 'mode' | 'schedule' | 'timezone'>>(WITH_DATES, { now });
}

function filterValues(filter: UsgProfileFilter): unknown[] {
  return [
    filter.accountId,
    groupsOf(filter.view),
    filter.search,
    filter.archived,
    filter.passRateFrom,
    filter.passRateTo,
    filter.ids,
  ];
}

const SELECT = `
  select p.id, p.account_id, p.access_group_id, g.name as access_group, p.creator_id, p.name, p.title, p.all_computers,
    p.tags, p.benchmark, p.mode, p.schedule, p.timezone, p.start_date, p.planned_dates, p.restart_deliver_delay,
    p.restart_deliver_delay_window, p.tailoring_file_key, p.archived, p.creation_time, p.modification_time,
    a.audit_retention_days as retention_period
  from usg_profile p join access_group g on g.id = p.access_group_id join account a on a.id = p.account_id`;

const VISIBLE = 'p.account_id = $1 and ($2::int[] is null or p.access_group_id = any($2))';

// Comparing with null is never true: with a bound, profiles without a rate are left out.
const MATCHING = `${VISIBLE}
  and ($3::text is null or strpos(lower(p.title), lower($3)) > 0)
  and ($4::boolean is null or p.archived = $4)
  and (coalesce($5::int, $6) is null or (
    select ${passRateOf('r.passing_count', 'r.failing_count')} from (${lastRunOf('p.id')}) r) between coalesce($5, 0) and coalesce($6::int, 100))
  and ($7::int[] is null or p.id = any($7))`;

const LIST = `
  with page as materialized (
    select p.id from usg_profile p where ${MATCHING} order by p.creation_time, p.id limit $8 offset $9)
  ${SELECT} where p.id in (select id from page) order by p.creation_time, p.id`;

const FIND = `${SELECT} where ${VISIBLE} and p.id = $3`;

const INSERT = `
  insert into usg_profile (account_id, access_group_id, creator_id, name, title, all_computers, tags, benchmark, mode,
    schedule, timezone, start_date, planned_dates, restart_deliver_delay, restart_deliver_delay_window, creation_time,
    modification_time)
  values (:account_id, :access_group_id, :creator_id, :name, :title, :all_computers, :tags, :benchmark, :mode, :schedule, :timezone, :start_date, :planned_dates, :restart_deliver_delay, :restart_deliver_delay_window, :creation_time, :creation_time) returning id`;

const UPDATE = `
  update usg_profile set modification_time = :now, title = coalesce(:title, title),
    all_computers = coalesce(:all_computers, all_computers), tags = coalesce(:tags, tags), schedule = coalesce(:schedule, schedule),
    timezone = coalesce(:timezone, timezone), planned_dates = coalesce(:planned_dates, planned_dates),
    restart_deliver_delay = coalesce(:restart_deliver_delay, restart_deliver_delay),
    restart_deliver_delay_window = coalesce(:restart_deliver_delay_window, restart_deliver_delay_window)
  where id = :id`;

const MISSED = `
  select p.id as "profileId", due.scheduled as "scheduledTime"
  from usg_profile p
  cross join lateral (select max(d) as scheduled from unnest(p.planned_dates) d where d <= :dueBefore) due
  where not p.archived and due.scheduled is not null and (:profileId::int is null or p.id = :profileId)
    and not exists (select from usg_run r where r.profile_id = p.id and r.nominal_time = due.scheduled)
  order by p.id limit :limit`;

const WITH_DATES = `
  select p.id, p.mode, p.schedule, p.timezone from usg_profile p
  where not p.archived and p.planned_dates[cardinality(p.planned_dates)] > :now
    and p.modification_time <= :now - interval '2 minutes'
  order by p.id`;
