import { type ParentRow, parentColumns, SOURCE } from '../activities/activities.sql.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { type ActivityScope, scopeParameters, VISIBLE } from '../query/activity-visibility.ts';
import { inScope, scopedProfiles } from '../query/profile-scope.sql.ts';
import type { ScriptProfileRow } from './script-profiles.sql.ts';
import { countVisible } from '../activities/activity-pages.sql.ts';

/** Inserts a run. @param run.scheduledTime - null for a trigger without dates. @returns null when the date has a run */
export async function insertProfileRun(
  tx: Sql,
  profile: ScriptProfileRow,
  { scheduledTime, now }: { scheduledTime: Date | null; now: Date },
): Promise<number | null> {
  const rows = await tx.query<{ id: number }>(INSERT, { ...profile, scheduledTime, now });
  return rows[0]?.id ?? null;
}

/** Links a run to the activity that carries it out. */
export async function setProfileRunActivity(tx: Sql, runId: number, run: { activityId: number; computers: number }) {
  await tx.query(
    'update script_profile_run set activity_id = :activityId, computer_count = :computers where id = :runId',
    { ...run, runId },
  );
}

/** Computers that have an operation of an open run of the profile. */
export async function computersWithOpenRun(tx: Sql, profileId: number): Promise<Set<number>> {
  const rows = await tx.query<{ computer_id: number }>(AT_WORK, { profileId });
  return new Set(rows.map(({ computer_id }) => computer_id));
}

/** The latest planned date of a trigger that has a run, and whether one of them is `scheduledTime`. */
export async function readPlannedRuns(sql: Sql, profile: ScriptProfileRow, scheduledTime: Date) {
  const [row] = await sql.query<{ latest: Date | null; known: boolean }>(PLANNED_RUNS, { ...profile, scheduledTime });
  return row!;
}

/** Active profiles, or one, with a pending date up to `dueBefore`. */
export function profilesDueBefore(sql: Sql, dueBefore: Date, of: { profileId: number | undefined; limit: number }) {
  const values = { dueBefore, limit: of.limit, profileId: of.profileId ?? null };
  return sql.query<{ id: number; due_at: Date; cron: string | null; timezone: string }>(OVERDUE, values);
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

/** Locks the script of a profile against changes until the transaction ends; taken before the profile itself. */
export async function lockScriptOfProfile(tx: Sql, profileId: number): Promise<void> {
  await tx.query(
    `select s.id from script_profile p join script s on s.id = p.script_id where p.id = :profileId for share of s`,
    { profileId },
  );
}

const atEnrolment = (p: string) => `${p}.trigger_type = 'event' and not ${p}.archived`;

const INSERT = `
  insert into script_profile_run (account_id, profile_id, trigger_number, nominal_time, started_at)
  values (:account_id, :id, :trigger_number, :scheduledTime, :now)
  on conflict (profile_id, trigger_number, nominal_time) do nothing returning id`;

const PLANNED_RUNS = `
  select max(nominal_time) as latest, coalesce(bool_or(nominal_time = :scheduledTime), false) as known
  from script_profile_run where profile_id = :id and trigger_number = :trigger_number`;

const AT_WORK = `
  select distinct k.computer_id
  from script_profile_run r join activity a on a.id = r.activity_id and a.open_count > 0
  join activity k on k.parent_id = a.id
  where r.profile_id = :profileId and ${isOpen('k.status')}`;

const OVERDUE = `
  select id, due_at, cron, timezone from script_profile
  where not archived and due_at is not null and due_at <= :dueBefore and (:profileId::int is null or id = :profileId)
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

/** Parents by id, in no order; those invisible to the caller are left out. */
export async function findParents(db: Sql, scope: ActivityScope, ids: readonly number[], now: Date) {
  const rows = await db.query<ParentRow>(FIND, { ...scopeParameters(scope), ids, now });
  return countVisible(db, scope, rows);
}

/** One page of the parents of a script profile's runs, newest first, as {@link findParents} returns them. */
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

const FIND = `select ${parentColumns()} from ${SOURCE} where ${VISIBLE} and a.id = any(:ids::int[])`;

const RUNS = `from script_profile_run r join activity a on a.id = r.activity_id
  where r.profile_id = :profileId and ${VISIBLE}`;

const LIST = `
  select ${parentColumns()}
  from (select a.id ${RUNS} order by a.id desc limit :limit offset :offset) page join ${SOURCE} on a.id = page.id
  order by a.id desc`;
