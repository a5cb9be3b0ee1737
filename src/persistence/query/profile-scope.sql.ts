import type { ProfileKindName } from '../../domain/schedules/profile-schedule.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';

const PROFILES: Readonly<Record<ProfileKindName, string>> = { usg: 'usg_profile', script: 'scoped_script_profile' };

const STANDING: Readonly<Record<ProfileKindName, string>> = {
  usg: 'not p.archived',
  script: `not p.archived and p.trigger_type <> 'event'`,
};

/** Profiles `p` with the `groups` they reach. A CTE of it has to be `materialized`: one tree traversal per profile. */
export const scopedProfiles = (kind: ProfileKindName) =>
  `select p.*, access_group_subtree(p.access_group_id) as groups from ${PROFILES[kind]} p`;

/** The computers `c` of a profile `p`. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export const inScope = (c: string, p: string) => `(${c}.account_id = ${p}.account_id and ${c}.state = 'approved'
  and not ${c}.archived and ${c}.access_group_id = any(${p}.groups) and (${p}.all_computers or ${c}.tags && ${p}.tags))`;

/** Active profiles of a computer `c`: {@link inScope} from its side, traversing the tree once; a test compares them. */
export const activeProfilesOf = (kind: ProfileKindName, c: string) => `
  select p.id, p.name, p.title from (select access_group_ancestors(${c}.access_group_id) as groups offset 0) above
  join ${PROFILES[kind]} p on p.access_group_id = any(above.groups)
  where ${STANDING[kind]} and ${c}.state = 'approved' and not ${c}.archived and (p.all_computers or ${c}.tags && p.tags)`;

/** Current computers of each of some profiles, by id. */
export async function computersInScope(
  sql: Sql,
  kind: ProfileKindName,
  profileIds: readonly number[],
): Promise<Map<number, number[]>> {
  const rows = await sql.query<{ id: number; computers: number[] }>(computersOf(kind), { profileIds });
  return new Map(rows.map(({ id, computers }) => [id, computers]));
}

/** Current number of computers of each of some profiles, which are matched with counts by access group and tags. */
export async function countComputersInScope(
  sql: Sql,
  kind: ProfileKindName,
  accountId: number,
  profileIds: readonly number[],
): Promise<Map<number, number>> {
  if (profileIds.length === 0) return new Map();
  const text = countsOf(kind, profileIds.length <= FEW);
  const rows = await sql.query<{ id: number; computers: number }>(text, { accountId, profileIds });
  return new Map(rows.map(({ id, computers }) => [id, computers]));
}

/** Up to this many profiles, computers are found by the index of their tags. */
const FEW = 20;

const computersOf = (kind: ProfileKindName) => `
  with profile as materialized (${scopedProfiles(kind)} where p.id = any(:profileIds::int[]))
  select p.id, array(select c.id from computer c where ${inScope('c', 'p')} order by c.id) as computers from profile p`;

// The condition of inScope, with computers grouped by their relevant tags; a test keeps the two consistent.
/** `id` and number of `computers` of `:profileIds`. @param few - some profiles: by the index of tags */
export const countsOf = (kind: ProfileKindName, few: boolean) => `
  with page as materialized (
    select id, access_group_id, all_computers, tags from ${PROFILES[kind]} where account_id = :accountId and id = any(:profileIds::int[])
  ), reach as materialized (
    select g.access_group_id, unnest(access_group_subtree(g.access_group_id)) as group_id
    from (select distinct access_group_id from page) g
  ), wanted as materialized (
    select distinct tag from page, unnest(page.tags) tag where not all_computers
  ), raw as materialized (
    select row_number() over () as raw, c.access_group_id, c.tags, count(*)::int as computers
    from computer c
    where c.account_id = :accountId and c.state = 'approved' and not c.archived and exists (select from wanted)
      and c.access_group_id in (select group_id from reach) ${few ? 'and c.tags && array(select tag from wanted)' : ''}
    group by c.access_group_id, c.tags
  ), kind as materialized (
    select row_number() over () as kind, access_group_id, tags, sum(computers)::int as computers
    from (
      select r.access_group_id, r.computers, array_agg(w.tag order by w.tag) as tags
      from raw r cross join unnest(r.tags) as own(tag) join wanted w on w.tag = own.tag
      group by r.raw, r.access_group_id, r.computers
    ) held
    group by access_group_id, tags
  ), of_group as materialized (
    select c.access_group_id, count(*)::int as computers
    from computer c
    where c.account_id = :accountId and c.state = 'approved' and not c.archived and exists (select from page where all_computers)
      and c.access_group_id in (select group_id from reach)
    group by c.access_group_id
  ), tagged as materialized (
    select k.kind, k.access_group_id, k.computers, tag from kind k, unnest(k.tags) tag
  ), matched as (
    select distinct p.id, t.kind, t.computers
    from page p cross join unnest(p.tags) as wanted(tag)
    join tagged t on t.tag = wanted.tag join reach r on r.access_group_id = p.access_group_id and r.group_id = t.access_group_id
    where not p.all_computers
    union all
    select p.id, 0, g.computers
    from page p join reach r on r.access_group_id = p.access_group_id join of_group g on g.access_group_id = r.group_id
    where p.all_computers
  )
  select p.id, coalesce(sum(m.computers), 0)::int as computers from page p left join matched m on m.id = p.id group by p.id`;

/** Select of the computers with an open operation of a run. @param profile - SQL of the id of a profile */
export const computersWithOpenRun = (profile: string) => `
  select distinct k.computer_id
  from usg_run r join activity a on a.id = r.activity_id and a.open_count > 0
  join activity k on k.parent_id = a.id
  where r.profile_id = ${profile} and ${isOpen('k.status')}`;

/** Select of computers with an open audit (operation or report), some repeated. @param profile - SQL of a profile's id */
export const computersWithOpenAudit = (profile: string) => `${computersWithOpenRun(profile)}
  union all
  select u.computer_id from usg_run r join usg_audit u on u.run_id = r.id
  where r.profile_id = ${profile} and r.in_progress_count > 0 and u.state = 'in-progress'`;
