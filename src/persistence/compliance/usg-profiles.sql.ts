import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';
import { countsOf } from '../query/profile-scope.sql.ts';
import type { UsgProfile } from './usg-profile.entity.ts';
import { lastRunOf, lastRunsOf, passRateOf } from './usg-runs.sql.ts';

export type UsgProfileRow = Row<'usg_profile'> & {
  access_group: string;
  /** Days that results are kept; negative: forever. */
  retention_period: number;
};

export interface UsgProfileFilter {
  accountId: number;
  view: GroupScope;
  search: string | null;
  archived: boolean | null;
  passRateFrom: number | null;
  passRateTo: number | null;
  ids: readonly number[] | null;
}

/** One page of profiles, oldest first, and the total number. */
export async function listUsgProfiles(sql: Sql, filter: UsgProfileFilter, { limit, offset }: PageRequest) {
  const values = { ...filter, view: groupsOf(filter.view), limit, offset };
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`select count(*)::int as count from usg_profile p where ${MATCHING}`, values),
    sql.query<UsgProfileRow>(LIST, values),
  ]);
  return { count: counted[0]!.count, rows };
}

/** All matching profiles, in no order. */
export async function findUsgProfileIds(sql: Sql, filter: UsgProfileFilter): Promise<number[]> {
  const values = { ...filter, view: groupsOf(filter.view) };
  const rows = await sql.query<{ id: number }>(`select p.id from usg_profile p where ${MATCHING}`, values);
  return rows.map(({ id }) => id);
}

/** One profile of an account in the visible access groups, or null. */
export async function findUsgProfile(
  sql: Sql,
  { accountId, view }: { accountId: number; view: GroupScope },
  id: number,
): Promise<UsgProfileRow | null> {
  const rows = await sql.query<UsgProfileRow>(FIND, { accountId, view: groupsOf(view), id });
  return rows[0] ?? null;
}

/** The entity tag of what a response about a profile is made from; null for none. */
export async function readUsgProfileTag(
  sql: Sql,
  { accountId, view }: { accountId: number; view: GroupScope },
  id: number,
  now: Date,
): Promise<string | null> {
  const values = { accountId, view: groupsOf(view), id, profileIds: [id], now };
  const [row] = await sql.query<{ tag: string }>(TAG, values);
  return row?.tag ?? null;
}

/** What a run needs of a profile. */
export type RunnableProfile = Pick<
  UsgProfile,
  | 'id'
  | 'title'
  | 'mode'
  | 'benchmark'
  | 'creatorId'
  | 'tailoringFileKey'
  | 'restartDeliverDelay'
  | 'restartDeliverDelayWindow'
> & { account: { id: number } };

export type DueProfile = RunnableProfile & Pick<UsgProfile, 'archived' | 'plannedDates' | 'modificationTime'>;

/** Locks those of some profiles that exist, by account and id. @param until - later planned dates are left out */
export function lockDueProfiles(tx: Sql, ids: readonly number[], until: Date): Promise<DueProfile[]> {
  return tx.query<DueProfile>(LOCK_DUE, { ids, until });
}

/** By profile: the latest date up to `dueBefore` without a run, of active profiles: one, or those after an id. */
export function datesDueBefore(sql: Sql, dueBefore: Date, of: { profileId?: number; after?: number; limit: number }) {
  const values = { dueBefore, limit: of.limit, profileId: of.profileId ?? null, after: of.after ?? 0 };
  return sql.query<{ profileId: number; scheduledTime: Date }>(DATES_DUE, values);
}

/** Active profiles with future dates, except those created or changed within the last two minutes. */
export function usgProfilesWithDates(sql: Sql, now: Date) {
  return sql.query<Pick<UsgProfileRow, 'id' | 'mode' | 'schedule' | 'timezone'>>(WITH_DATES, { now });
}

const SELECT = `
  select p.id, p.account_id, p.access_group_id, g.name as access_group, p.creator_id, p.name, p.title, p.all_computers,
    p.tags, p.benchmark, p.mode, p.schedule, p.timezone, p.start_date, p.planned_dates, p.restart_deliver_delay,
    p.restart_deliver_delay_window, p.tailoring_file_key, p.archived, p.creation_time, p.modification_time,
    a.audit_retention_days as retention_period
  from usg_profile p join access_group g on g.id = p.access_group_id join account a on a.id = p.account_id`;

const VISIBLE = 'p.account_id = :accountId and (:view::int[] is null or p.access_group_id = any(:view))';

// Comparing with null is never true: with a bound, profiles without a rate are left out.
const MATCHING = `${VISIBLE}
  and (:search::text is null or strpos(lower(p.title), lower(:search)) > 0)
  and (:archived::boolean is null or p.archived = :archived)
  and (coalesce(:passRateFrom::int, :passRateTo) is null or (
    select ${passRateOf('r.passing_count', 'r.failing_count')} from (${lastRunOf('p.id')}) r)
      between coalesce(:passRateFrom, 0) and coalesce(:passRateTo::int, 100))
  and (:ids::int[] is null or p.id = any(:ids))`;

const LIST = `
  with page as materialized (
    select p.id from usg_profile p where ${MATCHING} order by p.creation_time, p.id limit :limit offset :offset)
  ${SELECT} where p.id in (select id from page) order by p.creation_time, p.id`;

const FIND = `${SELECT} where ${VISIBLE} and p.id = :id`;

// Of the dates of years only the next one is shown.
const TAG = `
  with profile as materialized (${FIND})
  select md5(concat_ws('|', (to_jsonb(p) - 'planned_dates')::text,
    (select min(d) from unnest(p.planned_dates) d where d > :now::timestamptz),
    (select n.computers from (${countsOf('usg', true)}) n), (select l::text from (${lastRunsOf('array[p.id]')}) l))) as tag
  from profile p`;

const DATES_DUE = `
  select p.id as "profileId", due.scheduled as "scheduledTime"
  from usg_profile p
  cross join lateral (select max(d) as scheduled from unnest(p.planned_dates) d where d <= :dueBefore) due
  where not p.archived and due.scheduled is not null and (:profileId::int is null or p.id = :profileId)
    and p.id > :after and not exists (select from usg_run r where r.profile_id = p.id and r.nominal_time = due.scheduled)
  order by p.id limit :limit`;

// Without the dates of years ahead, which would take longer to read than all the rest.
const LOCK_DUE = `
  select p.id, p.title, p.mode, p.benchmark, p.creator_id as "creatorId", p.tailoring_file_key as "tailoringFileKey",
    p.restart_deliver_delay as "restartDeliverDelay", p.restart_deliver_delay_window as "restartDeliverDelayWindow",
    json_build_object('id', p.account_id) as account, p.archived, p.modification_time as "modificationTime",
    array(select d from unnest(p.planned_dates) d where d <= :until order by d) as "plannedDates"
  from usg_profile p where p.id = any(:ids::int[]) order by p.account_id, p.id for update`;

const WITH_DATES = `
  select p.id, p.mode, p.schedule, p.timezone from usg_profile p
  where not p.archived and p.planned_dates[cardinality(p.planned_dates)] > :now
    and p.modification_time <= :now - interval '2 minutes'
  order by p.id`;
