import { POST_ENROLLMENT, type Trigger } from '../../domain/scripts/trigger.ts';
import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { groupsOf } from '../query/group-scope.ts';
import { countsOf } from '../query/profile-scope.sql.ts';
import type { PersonName, ScriptScope } from './scripts.sql.ts';

type StoredRow = Omit<Row<'script_profile'>, 'event_type'> & {
  access_group_id: number;
  access_group: string;
  created_by: PersonName;
  last_run: Date | null;
};

export type ScriptProfileRow = Omit<StoredRow, 'trigger_type' | 'run_at' | 'start_after' | 'cron'> & {
  trigger: Trigger;
};

interface ScriptProfileFilter extends ScriptScope, PageRequest {
  archived: boolean | null;
  search: string | null;
  names: readonly string[] | null;
  scriptId: number | null;
}

/** One page of profiles, newest first, and the total number. */
export async function listScriptProfiles(sql: Sql, filter: ScriptProfileFilter) {
  const values = { ...filter, view: groupsOf(filter.view) };
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`select count(*)::int as count ${MATCHING}`, values),
    sql.query<StoredRow>(LIST, values),
  ]);
  return { count: counted[0]!.count, rows: rows.map(toRow) };
}

/** One profile of an account in the visible access groups, or null. */
export async function findScriptProfile(sql: Sql, { accountId, view }: ScriptScope, id: number) {
  const rows = await sql.query<StoredRow>(FIND, { accountId, view: groupsOf(view), id });
  return rows[0] ? toRow(rows[0]) : null;
}

/** The tag of a profile with its computers and its latest run's activity, whose own is {@link readParentTag}; or null. */
export async function readScriptProfileTag(sql: Sql, { accountId, view }: ScriptScope, id: number, now: Date) {
  const values = { accountId, view: groupsOf(view), id, profileIds: [id], now };
  const [row] = await sql.query<{ tag: string; activity_id: number | null }>(TAG, values);
  return row ?? null;
}

/** A profile of any account, archived or not; null for none. */
export async function readScriptProfile(sql: Sql, id: number): Promise<ScriptProfileRow | null> {
  return (await readScriptProfiles(sql, [id]))[0] ?? null;
}

/** As {@link readScriptProfile}, those of several that exist, by account and id. */
export async function readScriptProfiles(sql: Sql, ids: readonly number[]): Promise<ScriptProfileRow[]> {
  const rows = await sql.query<StoredRow>(READ, { ids });
  return rows.map(toRow);
}

export interface DueDate {
  id: number;
  dueAt: Date | null;
  /** Null: unchanged. */
  plannedUntil: Date | null;
}

/** Sets the next dates of locked profiles. */
export async function setDueDates(tx: Sql, dates: readonly DueDate[]): Promise<void> {
  await tx.query(SET_DUE_DATES, {
    ids: dates.map(({ id }) => id),
    dueAts: dates.map(({ dueAt }) => dueAt),
    plannedUntils: dates.map(({ plannedUntil }) => plannedUntil),
  });
}

/** Archives the profiles of a script. @returns those newly archived */
export async function archiveProfilesOfScript(tx: Sql, scriptId: number, now: Date): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `update script_profile set archived = true, due_at = null, last_edited_at = :now
     where script_id = :scriptId and not archived returning id`,
    { scriptId, now },
  );
  return rows.map(({ id }) => id);
}

/** The activity of the latest run of each of some profiles that had one. */
export async function readLatestRuns(sql: Sql, profileIds: readonly number[]): Promise<Map<number, number>> {
  if (profileIds.length === 0) return new Map();
  const rows = await sql.query<{ profile_id: number; activity_id: number }>(LATEST_RUNS, { profileIds });
  return new Map(rows.map(({ profile_id, activity_id }) => [profile_id, activity_id]));
}

function toRow({ trigger_type, run_at, start_after, cron, ...row }: StoredRow): ScriptProfileRow {
  const { timezone } = row;
  switch (trigger_type) {
    case 'event':
      return { ...row, trigger: { type: 'event', eventType: POST_ENROLLMENT } };
    case 'one_time':
      return { ...row, trigger: { type: 'one_time', timestamp: run_at! } };
    case 'recurring':
      return { ...row, trigger: { type: 'recurring', startAfter: start_after!, interval: cron!, timezone } };
  }
}

const SELECT = `
  select p.id, p.account_id, p.script_id, s.access_group_id, g.name as access_group, p.title, p.creator_id,
    (select json_build_object('id', x.id, 'name', x.name) from person x where x.id = p.creator_id) as created_by,
    p.created_at, p.last_edited_at, p.all_computers, p.tags, p.time_limit, p.username, p.archived, p.trigger_type,
    p.run_at, p.start_after, p.cron, p.timezone, p.trigger_number, p.due_at, p.planned_until,
    (select r.started_at from script_profile_run r
      where r.profile_id = p.id and r.trigger_number = p.trigger_number and r.activity_id is not null
      order by r.started_at desc, r.id desc limit 1) as last_run
  from script_profile p join script s on s.id = p.script_id join access_group g on g.id = s.access_group_id`;

const VISIBLE = 'p.account_id = :accountId and (:view::int[] is null or s.access_group_id = any(:view))';

const MATCHING = `
  from script_profile p join script s on s.id = p.script_id
  where ${VISIBLE} and (:archived::boolean is null or p.archived = :archived)
    and (:search::text is null or strpos(lower(p.title), lower(:search)) > 0)
    and (:names::text[] is null or p.title = any(:names)) and (:scriptId::int is null or p.script_id = :scriptId)`;

const LIST = `
  with page as materialized (select p.id ${MATCHING} order by p.created_at desc, p.id desc limit :limit offset :offset)
  ${SELECT} where p.id in (select id from page) order by p.created_at desc, p.id desc`;

const READ = `${SELECT} where p.id = any(:ids::int[]) order by p.account_id, p.id`;

const FIND = `${SELECT} where ${VISIBLE} and p.id = :id`;

const SET_DUE_DATES = `
  update script_profile p set due_at = d.due_at, planned_until = coalesce(d.planned_until, p.planned_until)
  from unnest(:ids::int[], :dueAts::timestamptz[], :plannedUntils::timestamptz[]) as d(id, due_at, planned_until)
  where p.id = d.id`;

const LATEST_RUNS = `
  select wanted.id as profile_id, r.activity_id
  from unnest(:profileIds::int[]) as wanted(id)
  cross join lateral (
    select activity_id from script_profile_run where profile_id = wanted.id and activity_id is not null
    order by started_at desc, id desc limit 1) r`;

// The next run of an overdue profile is found from the time, by the minute.
const TAG = `
  with profile as materialized (${FIND}), latest as materialized (${LATEST_RUNS})
  select md5(concat_ws('|', p::text, p.due_at > :now::timestamptz,
    case when p.due_at <= :now::timestamptz then date_trunc('minute', :now::timestamptz) end,
    case when not p.archived and p.trigger_type <> 'event' then (
      select n.computers from (${countsOf('script', true)}) n) end, l.activity_id)) as tag, l.activity_id
  from profile p left join latest l on true`;
