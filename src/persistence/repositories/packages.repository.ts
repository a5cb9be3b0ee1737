import type { PackageAction } from '../../domain/activity/package-operations.ts';
import type { PackageState, ReportedVersion } from '../../domain/packages/package-states.ts';
import { containing } from '../like.ts';
import type { PageRequest } from '../page.ts';
import type { Sql } from '../sql.ts';

/** Which packages of which computers; an absent flag lets both through. */
export interface PackageFilter {
  accountId: number;
  /** Viewable access groups; null for all. */
  groups: readonly number[] | null;
  /** Only of these computers; null for all that are not archived. */
  computers: readonly number[] | null;
  /** Part of the name or of the summary, in any case; empty for all. */
  search: string;
  /** Exact names; null for all. */
  names: readonly string[] | null;
  states: Readonly<Partial<Record<PackageState, boolean>>>;
}

/** One version of a package as one computer knows it. */
export interface PackageRow extends ReportedVersion {
  computer_id: number;
  name: string;
  summary: string;
}

/** Most computers that one package is shown with. */
export const SHOWN_COMPUTERS = 100;

/**
 * One page of package names in order, each with the versions its first {@link SHOWN_COMPUTERS} computers know, and how
 * many names there are; two statements.
 */
export async function listPackages(
  db: Sql,
  filter: PackageFilter,
  page: PageRequest,
): Promise<{ count: number; names: string[]; rows: PackageRow[] }> {
  const scope = [filter.accountId, filter.groups, filter.computers];
  const search = filter.search === '' ? null : containing(filter.search);
  const [found] = await db.query<{ count: number; names: string[] }>(namesText(mineOf(filter.states)), [
    ...scope,
    search,
    filter.names,
    page.limit,
    page.offset,
  ]);
  const { count, names } = found!;
  if (names.length === 0) return { count, names, rows: [] };
  // In the order of their computers, so that the search for a name ends at the last one that is shown.
  const ordered = rowsText(mineOf(filter.states, 'order by s.computer_id'));
  const rows = await db.query<PackageRow & Record<string, unknown>>(ordered, [...scope, names, SHOWN_COMPUTERS]);
  return { count, names, rows };
}

/**
 * Computers that cannot do something with all of some packages: the package is not on offer there, not installed,
 * already as wanted, or not known at all. At most 100, in order.
 */
export async function findIneligible(
  db: Sql,
  computers: readonly number[],
  action: PackageAction,
  packages: readonly number[],
): Promise<number[]> {
  // Open where the range of the largest id cannot be closed; no set has that one.
  const ids = `{${packages.map((id) => `[${id},${id < MAX_ID ? id + 1 : ''})`).join(',')}}`;
  const rows = await db.query<{ id: number }>(
    `select c.id from unnest($1::int[]) c(id) left join computer_packages s on s.computer_id = c.id
     where not coalesce((${ELIGIBLE[action]}) @> $2::int4multirange, false)
       or exists (select from unnest($3::int[]) u(id) where not exists (select from package p where p.id = u.id))
     order by c.id limit 100`,
    [computers, ids, packages],
  );
  return rows.map(({ id }) => id);
}

const MAX_ID = 2_147_483_647;

const AVAILABLE = '(s.available + s.available_upgrades)';

const ELIGIBLE: Readonly<Record<PackageAction, string>> = {
  install: `${AVAILABLE} - s.installed`,
  upgrade: `${AVAILABLE} - s.installed`,
  downgrade: `${AVAILABLE} - s.installed`,
  remove: 's.installed',
  hold: 's.installed - s.locked',
  unhold: 's.locked',
};

const SETS: Readonly<Record<PackageState, string>> = {
  installed: 's.installed',
  available: AVAILABLE,
  upgrade: 's.available_upgrades',
  held: 's.locked',
  security: '(s.security * s.available_upgrades)',
};

/** The packages of each computer that a filter is about, as sets of ids: no row per package is made to find them. */
function mineOf(states: PackageFilter['states'], order = ''): string {
  const narrowed = (Object.keys(SETS) as PackageState[]).reduce((text, state) => {
    const wanted = states[state];
    return wanted === undefined ? text : `(${text} ${wanted ? '*' : '-'} ${SETS[state]})`;
  }, `(s.installed + ${AVAILABLE})`);
  return `
  with mine as materialized (
    select s.*, ${narrowed} as wanted
    from computer c join computer_packages s on s.computer_id = c.id
    where c.account_id = $1 and c.state = 'approved' and ($2::int[] is null or c.access_group_id = any($2))
      and case when $3::int[] is null then not c.archived else c.id = any($3) end
    ${order}
  )`;
}

const namesText = (mine: string) => `
  ${mine}, found as materialized (
    select p.name from package p
    where p.id <@ (select range_agg(wanted) from mine)
      and ($4::text is null or p.name ilike $4 or p.summary ilike $4) and ($5::text[] is null or p.name = any($5))
    group by p.name
  )
  select (select count(*)::int from found) as count,
    array(select name from found order by name limit $6 offset $7) as names`;

const rowsText = (mine: string) => `
  ${mine}, named as materialized (
    select n.name, range_agg(int4range(p.id, p.id, '[]')) as ids
    from unnest($4::text[]) n(name) join package p on p.name = n.name group by n.name
  )
  select m.computer_id, p.id, p.name, p.version, coalesce(p.summary, '') as summary, m.installed @> p.id as installed,
    (m.available + m.available_upgrades) @> p.id as available, m.available_upgrades @> p.id as upgrade,
    m.locked @> p.id as held, m.security @> p.id and m.available_upgrades @> p.id as security
  from named n
  cross join lateral (select * from mine where mine.wanted && n.ids limit $5) m
  join package p on p.name = n.name and (m.installed + m.available + m.available_upgrades) @> p.id
  order by p.name, m.computer_id`;
