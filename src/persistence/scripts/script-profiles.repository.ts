import type { Trigger, TriggerType } from '../../domain/scripts/trigger.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';
import type { PersonName } from './scripts.repository.ts';

export interface ScriptProfileRow {
  id: number;
  account_id: number;
  script_id: number;
  /** That of its script. */
  access_group_id: number;
  access_group: string;
  title: string;
  creator_id: number;
  created_by: PersonName;
  created_at: Date;
  last_edited_at: Date;
  all_computers: boolean;
  tags: string[];
  time_limit: number;
  username: string;
  archived: boolean;
  /** IANA name. */
  timezone: string;
  trigger: Trigger;
  /** Increases when the runs of the trigger start over. */
  trigger_number: number;
  /** Start of the latest run of this trigger; null before the first. */
  last_run: Date | null;
  /** The next date; null: none. */
  due_at: Date | null;
  /** The last date in its schedule on the server, if that has single dates of cron text. */
  planned_until: Date | null;
}

export interface ScriptProfileScope {
  accountId: number;
  view: GroupScope;
}

/** Filter of a list; null and absent parts do not restrict. */
export interface ScriptProfileFilter extends ScriptProfileScope {
  archived: boolean | null;
  /** Case-insensitive part of the title. */
  search: string | null;
  /** Exact titles. */
  names: readonly string[] | null;
  scriptId: number | null;
}

export type NewScriptProfile = Pick<
  ScriptProfileRow,
  | 'account_id'
  | 'script_id'
  | 'creator_id'
  | 'title'
  | 'all_computers'
  | 'tags'
  | 'time_limit'
  | 'username'
  | 'timezone'
  | 'trigger'
> & { now: Date };

export type ScriptProfileChange = Partial<
  Pick<
    ScriptProfileRow,
    'title' | 'all_computers' | 'tags' | 'time_limit' | 'username' | 'timezone' | 'trigger' | 'trigger_number'
  >
>;

/** One page of profiles, newest first, and the total number. */
export async function listScriptProfiles(
  sql: Sql,
  filter: ScriptProfileFilter,
  page: PageRequest,
): Promise<{ count: number; rows: ScriptProfileRow[] }> {
  const { archived, search, names, scriptId } = filter;
  const values = [...scopeValues(filter), archived, search, names, scriptId];
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`select count(*)::int as count ${MATCHING}`, values),
    sql.query<StoredRow>(LIST, [...values, page.limit, page.offset]),
  ]);
  return { count: counted[0]!.count, rows: rows.map(toRow) };
}

/** One profile of an account in the visible access groups, or null. */
export async function findScriptProfile(
  sql: Sql,
  scope: ScriptProfileScope,
  id: number,
): Promise<ScriptProfileRow | null> {
  const rows = await sql.query<StoredRow>(FIND, [...scopeValues(scope), id]);
  return rows[0] ? toRow(rows[0]) : null;
}

/** One profile of any account, or null. */
export async function readScriptProfile(sql: Sql, id: number): Promise<ScriptProfileRow | null> {
  const rows = await sql.query<StoredRow>(`${SELECT} where p.id = :id`, { id });
  return rows[0] ? toRow(rows[0]) : null;
}

/** As {@link readScriptProfile}, with its row locked until the transaction ends. */
export async function lockScriptProfile(tx: Sql, id: number): Promise<ScriptProfileRow | null> {
  const locked = await tx.query('select id from script_profile where id = :id for update', { id });
  return locked.length === 0 ? null : readScriptProfile(tx, id);
}

export async function countActiveScriptProfiles(sql: Sql, accountId: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*)::int as count from script_profile where account_id = :accountId and not archived',
    { accountId },
  );
  return row!.count;
}

/** @returns id of the new profile. @throws a violation of `script_profile_title` when an active one has the title */
export async function insertScriptProfile(tx: Sql, profile: NewScriptProfile): Promise<number> {
  const { account_id, script_id, creator_id, title, all_computers, tags, time_limit, username, now } = profile;
  const [row] = await tx.query<{ id: number }>(INSERT, [
    ...[account_id, script_id, creator_id, title, all_computers, tags, time_limit, username, now],
    ...triggerValues(profile.trigger),
    profile.timezone,
  ]);
  return row!.id;
}

/** Changes the given fields. @throws a violation of `script_profile_title` when another active one has the title */
export async function updateScriptProfile(tx: Sql, id: number, change: ScriptProfileChange, now: Date): Promise<void> {
  const { title, all_computers, tags, time_limit, username, timezone, trigger, trigger_number } = change;
  await tx.query(UPDATE, [
    ...[id, now, title ?? null, all_computers ?? null, tags ?? null, time_limit ?? null, username ?? null],
    trigger_number ?? null,
    ...triggerValues(trigger ?? null),
    timezone ?? null,
  ]);
}

export async function archiveScriptProfile(tx: Sql, id: number, now: Date): Promise<void> {
  await tx.query('update script_profile set archived = true, last_edited_at = :now where id = :id', { id, now });
}

/** Archives the profiles of a script. @returns those newly archived */
export async function archiveProfilesOfScript(tx: Sql, scriptId: number, now: Date): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    'update script_profile set archived = true, last_edited_at = :now where script_id = :scriptId and not archived returning id',
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

type StoredRow = Omit<ScriptProfileRow, 'trigger'> & {
  trigger_type: TriggerType;
  run_at: Date | null;
  start_after: Date | null;
  cron: string | null;
};

function toRow({ trigger_type, run_at, start_after, cron, ...row }: StoredRow): ScriptProfileRow {
  switch (trigger_type) {
    case 'event':
      return { ...row, trigger: { type: 'event', eventType: 'post_enrollment' } };
    case 'one_time':
      return { ...row, trigger: { type: 'one_time', timestamp: run_at! } };
    case 'recurring':
      return {
        ...row,
        trigger: { type: 'recurring', startAfter: start_after!, interval: cron!, timezone: row.timezone },
      };
  }
}

function triggerValues(trigger: Trigger | null): unknown[] {
  return [
    trigger?.type ?? null,
    trigger?.type === 'event' ? trigger.eventType : null,
    trigger?.type === 'one_time' ? trigger.timestamp : null,
    trigger?.type === 'recurring' ? trigger.startAfter : null,
    trigger?.type === 'recurring' ? trigger.interval : null,
  ];
}

function scopeValues({ accountId, view }: ScriptProfileScope): [number, readonly number[] | null] {
  return [accountId, groupsOf(view)];
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

const VISIBLE = 'p.account_id = $1 and ($2::int[] is null or s.access_group_id = any($2))';

const MATCHING = `
  from script_profile p join script s on s.id = p.script_id
  where ${VISIBLE} and ($3::boolean is null or p.archived = $3)
    and ($4::text is null or strpos(lower(p.title), lower($4)) > 0)
    and ($5::text[] is null or p.title = any($5)) and ($6::int is null or p.script_id = $6)`;

const LIST = `
  with page as materialized (select p.id ${MATCHING} order by p.created_at desc, p.id desc limit $7 offset $8)
  ${SELECT} where p.id in (select id from page) order by p.created_at desc, p.id desc`;

const FIND = `${SELECT} where ${VISIBLE} and p.id = $3`;

const INSERT = `
  insert into script_profile (account_id, script_id, creator_id, title, all_computers, tags, time_limit, username,
    created_at, last_edited_at, trigger_type, event_type, run_at, start_after, cron, timezone)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, $15) returning id`;

const kept = (column: string, value: string) =>
  `${column} = case when $9::text is null then ${column} else ${value} end`;

const UPDATE = `
  update script_profile set last_edited_at = $2, title = coalesce($3, title),
    all_computers = coalesce($4, all_computers), tags = coalesce($5, tags), time_limit = coalesce($6, time_limit),
    username = coalesce($7, username), trigger_number = coalesce($8, trigger_number),
    trigger_type = coalesce($9, trigger_type), ${kept('event_type', '$10::text')},
    ${kept('run_at', '$11::timestamptz')}, ${kept('start_after', '$12::timestamptz')}, ${kept('cron', '$13::text')},
    timezone = coalesce($14, timezone)
  where id = $1`;

const LATEST_RUNS = `
  select wanted.id as profile_id, r.activity_id
  from unnest(:profileIds::int[]) as wanted(id)
  cross join lateral (
    select activity_id from script_profile_run where profile_id = wanted.id and activity_id is not null
    order by started_at desc, id desc limit 1) r`;
