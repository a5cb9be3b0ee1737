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

/** Inserts a run. @param run.scheduledTime - null when a person started it. @returns null when the date has a run */
export async function insertUsgRun(
  tx: Sql,
  run: { accountId: number; profileId: number; scheduledTime: Date | null; startedAt: Date },
): Promise<number | null> {
  const rows = await tx.query<{ id: number }>(
    `insert into usg_run (account_id, profile_id, nominal_time, started_at)
     values (:accountId, :profileId, :scheduledTime, :startedAt)
     on conflict (profile_id, nominal_time) do nothing returning id`,
    run,
  );
  return rows[0]?.id ?? null;
}

/** Inserts the audits of a run, not started on any computer. From now on the batches of its activity update them. */
export async function setRunActivity(
  tx: Sql,
  run: { id: number; profileId: number; activityId: number },
  computers: readonly number[],
): Promise<void> {
  const values = { ...run, computers, count: computers.length };
  await tx.query(
    'update usg_run set activity_id = :activityId, computer_count = :count, not_started_count = :count where id = :id',
    values,
  );
  await tx.query(INSERT_AUDITS, values);
  await tx.query('update lane set usg_run_id = :id where parent_id = :activityId', values);
}

/** Those of some computers without an operation of an open run of the profile, in the same order. */
export async function withoutOpenRun(tx: Sql, profileId: number, computers: readonly number[]): Promise<number[]> {
  const busy = await tx.query<{ computer_id: number }>(computersWithOpenRun(':profileId'), { profileId });
  if (busy.length === 0) return [...computers];
  const taken = new Set(busy.map(({ computer_id }) => computer_id));
  return computers.filter((id) => !taken.has(id));
}

/** The latest run by profile id; profiles without a run are absent. */
export async function readLastRuns(sql: Sql, profileIds: readonly number[]): Promise<Map<number, LastRun>> {
  if (profileIds.length === 0) return new Map();
  const rows = await sql.query<LastRun>(LAST_RUNS, { profileIds });
  return new Map(rows.map((row) => [row.profile_id, row]));
}

const INSERT_AUDITS = `
  insert into usg_audit (run_id, profile_id, computer_id, state)
  select :id, :profileId, c, 'not-started' from unnest(:computers::int[]) c`;

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
const LAST_RUNS = `
  select r.profile_id, r.activity_id, r.started_at, coalesce(a.open_count, 0) > 0 or r.in_progress_count > 0 as open,
    r.passing_count as passing, r.failing_count as failing, r.in_progress_count as in_progress,
    r.not_started_count as not_started
  from unnest(:profileIds::int[]) as wanted(id)
  cross join lateral (${lastRunOf('wanted.id')}) r
  left join activity a on a.id = r.activity_id`;

/** SQL of `passRate` in domain/compliance/profile.ts. @param passing - SQL of a count, never null; `failing` likewise */
export const passRateOf = (passing: string, failing: string) => `case when ${passing} + ${failing} = 0 then null
      when ${passing} = 0 or ${failing} = 0 then round(100.0 * ${passing} / (${passing} + ${failing}))
      else least(99, greatest(1, round(100.0 * ${passing} / (${passing} + ${failing})))) end`;
