import type { Sql } from '../database/sql.ts';
import type { UsgProfileRow } from './usg-profiles.repository.ts';

/** The latest date of each active profile, or of one, up to `dueBefore` that has no run, by profile. */
export async function missedUsgDates(
  sql: Sql,
  dueBefore: Date,
  { profileId, limit }: { profileId?: number | undefined; limit: number },
): Promise<Array<{ profileId: number; nominalTime: Date }>> {
  return sql.query<{ profileId: number; nominalTime: Date }>(MISSED, [dueBefore, limit, profileId ?? null]);
}

/** Active profiles with dates ahead, but for those made or changed within two minutes. */
export async function usgProfilesWithDates(
  sql: Sql,
  now: Date,
): Promise<Array<Pick<UsgProfileRow, 'id' | 'mode' | 'schedule' | 'timezone'>>> {
  return sql.query<Pick<UsgProfileRow, 'id' | 'mode' | 'schedule' | 'timezone'>>(WITH_DATES, [now]);
}

const MISSED = `
  select p.id as "profileId", due.nominal as "nominalTime"
  from usg_profile p
  cross join lateral (select max(d) as nominal from unnest(p.planned_dates) d where d <= $1) due
  where not p.archived and due.nominal is not null and ($3::int is null or p.id = $3)
    and not exists (select from usg_run r where r.profile_id = p.id and r.nominal_time = due.nominal)
  order by p.id limit $2`;

const WITH_DATES = `
  select p.id, p.mode, p.schedule, p.timezone from usg_profile p
  where not p.archived and p.planned_dates[cardinality(p.planned_dates)] > $1
    and p.modification_time <= $1 - interval '2 minutes'
  order by p.id`;
