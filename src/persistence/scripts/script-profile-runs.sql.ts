import { type ParentRow, parentColumns, SOURCE } from '../activities/activities.sql.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { type ActivityScope, scopeParameters, VISIBLE } from '../query/activity-visibility.ts';
import { inScope, scopedProfiles } from '../query/profile-scope.sql.ts';
import type { ScriptProfileRow } from './script-profiles.sql.ts';
import { countVisible } from '../activities/activity-pages.sql.ts';

/** A run of a profile. `scheduledTime`: null for a trigger without dates. */
export interface NewProfileRun {
  profile: ScriptProfileRow;
  scheduledTime: Date | null;
}

/** Inserts runs of different profiles. @returns their ids by profile; without those whose date has a run */
export async function insertProfileRuns(
  tx: Sql,
  runs: readonly NewProfileRun[],
  now: Date,
): Promise<Map<number, number>> {
  const rows = await tx.query<{ id: number; profile_id: number }>(INSERT, {
    accountIds: runs.map(({ profile }) => profile.account_id),
    profileIds: runs.map(({ profile }) => profile.id),
    triggerNumbers: runs.map(({ profile }) => profile.trigger_number),
    scheduledTimes: runs.map(({ scheduledTime }) => scheduledTime),
    now,
  });
  return new Map(rows.map(({ id, profile_id }) => [profile_id, id]));
}

/** Links runs to the activities that carry them out. */
export async function setProfileRunActivities(
  tx: Sql,
  runs: ReadonlyArray<{ id: number; activityId: number; computers: readonly number[] }>,
): Promise<void> {
  await tx.query(SET_ACTIVITIES, {
    ids: runs.map(({ id }) => id),
    activities: runs.map(({ activityId }) => activityId),
    counts: runs.map(({ computers }) => computers.length),
  });
}

/** By profile, the computers that have an operation of an open run of it. */
export async function busyScriptComputers(tx: Sql, profileIds: readonly number[]): Promise<Map<number, Set<number>>> {
  const rows = await tx.query<{ id: number; computers: number[] }>(AT_WORK, { profileIds });
  return new Map(rows.map(({ id, computers }) => [id, new Set(computers)]));
}

export interface PlannedRuns {
  /** The latest planned date of the profile's trigger that has a run. */
  latest: Date | null;
  /** Whether one of these dates is the given time. */
  known: boolean;
}

/** By profile, what ran of its present trigger. */
export async function readPlannedRuns(
  sql: Sql,
  runs: readonly NewProfileRun[],
): Promise<ReadonlyMap<number, PlannedRuns>> {
  const rows = await sql.query<PlannedRuns & { id: number }>(PLANNED_RUNS, {
    profileIds: runs.map(({ profile }) => profile.id),
    triggerNumbers: runs.map(({ profile }) => profile.trigger_number),
    scheduledTimes: runs.map(({ scheduledTime }) => scheduledTime),
  });
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

/** Active profiles with a pending date up to `dueBefore`: one, or those after an id. */
export function profilesDueBefore(
  sql: Sql,
  dueBefore: Date,
  of: { profileId?: number; after?: number; limit: number },
) {
  const values = { dueBefore, limit: of.limit, profileId: of.profileId ?? null, after: of.after ?? 0 };
  return sql.query<{ id: number; due_at: Date; cron: string | null; timezone: string }>(PROFILES_DUE, values);
}

export type WaitingProfile = { id: number; due_at: Date } & (
  | { cron: string; start_after: Date; timezone: string }
  | { cron: null; start_after: null }
);

/** Profiles with a pending date, except those created or changed within the last two minutes. */
export function waitingScriptProfiles(sql: Sql, now: Date): Promise<WaitingProfile[]> {
  return sql.query<WaitingProfile>(WAITING, { now });
}

/** Locks the active enrolment profiles of an account and their scripts against changes. @returns whether any exist */
export async function lockEnrolmentProfiles(tx: Sql, accountId: number): Promise<boolean> {
  const scripts = await tx.query<{ id: number }>(ENROLMENT_SCRIPTS, { accountId });
  if (scripts.length === 0) return false;
  const ids = scripts.map(({ id }) => id);
  // Scripts before their profiles, as in archiving.
  await tx.query('select id from script where id = any(:ids::int[]) order by id for share', { ids });
  const profiles = await tx.query(
    `select p.id from script_profile p where p.account_id = :accountId and ${atEnrolment('p')} order by p.id for share`,
    { accountId },
  );
  return profiles.length > 0;
}

/** Which of some computers each enrolment profile applies to, by id; profiles without any are left out. */
export function matchEnrolmentProfiles(tx: Sql, accountId: number, computers: readonly number[]) {
  return tx.query<{ id: number; computers: number[] }>(MATCH, { accountId, computers });
}

/** Locks the scripts of profiles against changes until the transaction ends; taken before the profiles themselves. */
export async function lockScriptsOfProfiles(tx: Sql, profileIds: readonly number[]): Promise<void> {
  await tx.query(LOCK_SCRIPTS, { profileIds });
}

const atEnrolment = (p: string) => `${p}.trigger_type = 'event' and not ${p}.archived`;

const LOCK_SCRIPTS = `
  select id from script where id in (select script_id from script_profile where id = any(:profileIds::int[]))
  order by id for share`;

const INSERT = `
  insert into script_profile_run (account_id, profile_id, trigger_number, nominal_time, started_at)
  select account_id, profile_id, trigger_number, nominal_time, :now::timestamptz
  from unnest(:accountIds::int[], :profileIds::int[], :triggerNumbers::int[], :scheduledTimes::timestamptz[])
    as r(account_id, profile_id, trigger_number, nominal_time)
  on conflict (profile_id, trigger_number, nominal_time) do nothing returning id, profile_id`;

const SET_ACTIVITIES = `
  update script_profile_run r set activity_id = s.activity, computer_count = s.computers
  from unnest(:ids::int[], :activities::int[], :counts::int[]) as s(id, activity, computers) where r.id = s.id`;

const PLANNED_RUNS = `
  select p.id, max(r.nominal_time) as latest, coalesce(bool_or(r.nominal_time = p.time), false) as known
  from unnest(:profileIds::int[], :triggerNumbers::int[], :scheduledTimes::timestamptz[]) as p(id, number, time)
  left join script_profile_run r on r.profile_id = p.id and r.trigger_number = p.number
  group by p.id`;

const AT_WORK = `
  select p.id, array(
    select distinct k.computer_id
    from script_profile_run r join activity a on a.id = r.activity_id and a.open_count > 0
    join activity k on k.parent_id = a.id
    where r.profile_id = p.id and ${isOpen('k.status')}) as computers
  from unnest(:profileIds::int[]) as p(id)`;

const PROFILES_DUE = `
  select id, due_at, cron, timezone from script_profile
  where not archived and due_at is not null and due_at <= :dueBefore and (:profileId::int is null or id = :profileId)
    and id > :after
  order by id limit :limit`;

const WAITING = `
  select id, due_at, cron, start_after, timezone from script_profile
  where not archived and due_at is not null and last_edited_at <= :now::timestamptz - interval '2 minutes'
  order by id`;

const ENROLMENT_SCRIPTS = `
  select distinct p.script_id as id from script_profile p where p.account_id = :accountId and ${atEnrolment('p')}`;

const MATCH = `
  with profile as materialized (${scopedProfiles('script')} where p.account_id = :accountId and ${atEnrolment('p')})
  select p.id, array_agg(c.id order by c.id) as computers
  from profile p join computer c on c.id = any(:computers::int[]) and ${inScope('c', 'p')}
  group by p.id order by p.id`;

/** One page of the parents of a script profile's runs, newest first. */
export async function listParentsOfScriptProfile(
  db: Sql,
  scope: ActivityScope,
  profileId: number,
  page: PageRequest,
  now: Date,
): Promise<{ count: number; rows: ParentRow[] }> {
  const values = { ...page, ...scopeParameters(scope), profileId, now };
  const [counted, rows] = await Promise.all([
    db.query<{ count: number }>(`select count(*)::int as count ${RUNS}`, values),
    db.query<ParentRow>(LIST, values),
  ]);
  return { count: counted[0]!.count, rows: await countVisible(db, scope, rows) };
}

const RUNS = `from script_profile_run r join activity a on a.id = r.activity_id
  where r.profile_id = :profileId and ${VISIBLE}`;

const LIST = `
  select ${parentColumns()}
  from (select a.id ${RUNS} order by a.id desc limit :limit offset :offset) page join ${SOURCE} on a.id = page.id
  order by a.id desc`;
