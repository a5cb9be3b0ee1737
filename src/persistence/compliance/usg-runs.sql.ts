import type { Sql } from '../database/sql.ts';
import { computersWithOpenRun } from '../query/profile-scope.sql.ts';

export type LastRun = {
  profile_id: number;
  activity_id: number;
  started_at: Date;
  open: boolean;
  passing: number;
  failing: number;
  in_progress: number;
  /** No result and not in progress: not delivered yet, or canceled. */
  not_started: number;
};

/** Inserts a run of each profile. @param scheduledTimes - null when a person started it @returns ids by profile, if new */
export async function insertUsgRuns(
  tx: Sql,
  runs: { accountIds: number[]; profileIds: number[]; scheduledTimes: Array<Date | null>; now: Date },
): Promise<Map<number, number>> {
  const rows = await tx.query<{ id: number; profile_id: number }>(INSERT_RUNS, runs);
  return new Map(rows.map(({ id, profile_id }) => [profile_id, id]));
}

interface StartedRun {
  id: number;
  profileId: number;
  activityId: number;
  computers: readonly number[];
}

/** Inserts the audits of runs, not started on any computer. The batches of their activities will update them. */
export async function setRunActivities(tx: Sql, runs: readonly StartedRun[]): Promise<void> {
  const audits = runs.flatMap(({ id, profileId, computers }) => computers.map((computer) => [id, profileId, computer]));
  const values = {
    ids: runs.map(({ id }) => id),
    activities: runs.map(({ activityId }) => activityId),
    counts: runs.map(({ computers }) => computers.length),
    runIds: audits.map(([id]) => id),
    profileIds: audits.map(([, profileId]) => profileId),
    computers: audits.map(([, , computer]) => computer),
  };
  await tx.query(SET_ACTIVITIES, values);
  if (audits.length === 0) return;
  await tx.query(INSERT_AUDITS, values);
  await tx.query(SET_BATCHES, values);
}

/** By profile, the computers with an operation of an open run of it. */
export async function busyComputers(tx: Sql, profileIds: readonly number[]): Promise<Map<number, Set<number>>> {
  const rows = await tx.query<{ id: number; computers: number[] }>(BUSY, { profileIds });
  return new Map(rows.map(({ id, computers }) => [id, new Set(computers)]));
}

/** The latest run by profile id; profiles without a run are absent. */
export async function readLastRuns(sql: Sql, profileIds: readonly number[]): Promise<Map<number, LastRun>> {
  if (profileIds.length === 0) return new Map();
  const rows = await sql.query<LastRun>(LAST_RUNS, { profileIds });
  return new Map(rows.map((row) => [row.profile_id, row]));
}

const INSERT_RUNS = `
  insert into usg_run (account_id, profile_id, nominal_time, started_at)
  select account_id, profile_id, nominal_time, :now::timestamptz
  from unnest(:accountIds::int[], :profileIds::int[], :scheduledTimes::timestamptz[]) as r(account_id, profile_id, nominal_time)
  on conflict (profile_id, nominal_time) do nothing returning id, profile_id`;

const SET_ACTIVITIES = `
  update usg_run r set activity_id = s.activity, computer_count = s.computers, not_started_count = s.computers
  from unnest(:ids::int[], :activities::int[], :counts::int[]) as s(id, activity, computers) where r.id = s.id`;

const INSERT_AUDITS = `
  insert into usg_audit (run_id, profile_id, computer_id, state)
  select run, profile, computer, 'not-started'
  from unnest(:runIds::int[], :profileIds::int[], :computers::int[]) as a(run, profile, computer)`;

const SET_BATCHES = `
  update lane l set usg_run_id = s.id
  from unnest(:ids::int[], :activities::int[]) as s(id, activity) where l.parent_id = s.activity`;

const BUSY = `
  select p.id, array(${computersWithOpenRun('p.id')}) as computers from unnest(:profileIds::int[]) as p(id)`;

const WITHOUT_RESULT = `latest.computer_count > 0 and latest.passing_count + latest.failing_count + latest.in_progress_count = 0
      and not exists (select from activity a where a.id = latest.activity_id and a.open_count > 0)`;

/** Select of the run to show for a profile: the latest with a result or not canceled as a whole; else the latest. */
export const lastRunOf = (profile: string) => `
    select r.* from (
      select * from usg_run where profile_id = ${profile} and activity_id is not null
      order by started_at desc, id desc limit 1) latest
    join usg_run r on r.id = case when ${WITHOUT_RESULT} then coalesce((
        select w.id from usg_run w
        where w.profile_id = ${profile} and w.activity_id is not null and w.passing_count + w.failing_count > 0
        order by w.started_at desc, w.id desc limit 1), latest.id) else latest.id end`;

// The activity of an earlier run may have been deleted.
/** @param profiles - SQL of an array of ids */
export const lastRunsOf = (profiles: string) => `
  select r.profile_id, r.activity_id, r.started_at, coalesce(a.open_count, 0) > 0 or r.in_progress_count > 0 as open,
    r.passing_count as passing, r.failing_count as failing, r.in_progress_count as in_progress,
    r.not_started_count as not_started
  from unnest(${profiles}) as wanted(id)
  cross join lateral (${lastRunOf('wanted.id')}) r
  left join activity a on a.id = r.activity_id`;
const LAST_RUNS = lastRunsOf(':profileIds::int[]');

/** SQL of `passRate` in domain/compliance/profile.ts. @param passing - SQL of a count, never null; `failing` likewise */
export const passRateOf = (passing: string, failing: string) => `case when ${passing} + ${failing} = 0 then null
      when ${passing} = 0 or ${failing} = 0 then round(100.0 * ${passing} / (${passing} + ${failing}))
      else least(99, greatest(1, round(100.0 * ${passing} / (${passing} + ${failing})))) end`;
