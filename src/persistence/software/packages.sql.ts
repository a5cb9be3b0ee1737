import type { KnownVersion } from '../../domain/software/package-choice.ts';
import type { PackageState, ReportedVersion } from '../../domain/software/package-states.ts';
import { containing, type Sql } from '../database/sql.ts';
import type { PageRequest } from '../database/page.ts';

export interface PackageFilter {
  accountId: number;
  groups: readonly number[] | null;
  /** Null for all that are not archived. */
  computers: readonly number[] | null;
  search: string;
  names: readonly string[] | null;
  states: Readonly<Partial<Record<PackageState, boolean>>>;
}

export interface PackageRow extends ReportedVersion {
  computer_id: number;
  name: string;
  summary: string;
}

export const SHOWN_COMPUTERS = 100;

interface PackageBatches {
  first: number;
  largest: number;
}

const BATCHES: PackageBatches = { first: SHOWN_COMPUTERS, largest: 1600 };

/** A page of names, with what {@link SHOWN_COMPUTERS} computers know; batches, as fleets do not fit into memory. */
export async function listPackages(db: Sql, filter: PackageFilter, page: PageRequest, batches = BATCHES) {
  const { states } = filter;
  const computers = await findComputers(db, filter);
  const search = filter.search === '' ? null : containing(filter.search);
  const [named] = await db.query<{ ids: string }>(NAMED, { search, names: filter.names });
  let unseen = named!.ids;
  for (const some of inBatches(computers, batches)) {
    if (unseen === '{}') break;
    const [left] = await db.query<{ ids: string }>(unseenText(states), { computers: some, unseen });
    unseen = left!.ids;
  }
  const values = { ids: named!.ids, unseen, ...page };
  const [found] = await db.query<{ count: number; names: string[] }>(NAMES, values);
  const { count, names } = found!;
  return { count, names, rows: await findRows(db, rowsText(states), names, inBatches(computers, batches)) };
}

function* inBatches(computers: readonly number[], { first, largest }: PackageBatches): Generator<number[]> {
  for (let start = 0, size = first; start < computers.length; start += size, size = Math.min(2 * size, largest)) {
    yield computers.slice(start, start + size);
  }
}

async function findComputers(db: Sql, { accountId, groups, computers }: PackageFilter): Promise<number[]> {
  const which = computers
    ? 'c.id in (select unnest(:computers::int[]))'
    : ':computers::int[] is null and not c.archived';
  const rows = await db.query<{ id: number }>(
    `select c.id from computer c
     where c.account_id = :accountId and c.state = 'approved' and (:groups::int[] is null or c.access_group_id = any(:groups))
       and ${which}
     order by c.id`,
    { accountId, groups, computers },
  );
  return rows.map(({ id }) => id);
}

async function findRows(db: Sql, text: string, names: readonly string[], batches: Iterable<number[]>) {
  const rows = new Map(names.map((name): [string, PackageRow[]] => [name, []]));
  const missing = new Map(names.map((name) => [name, SHOWN_COMPUTERS]));
  for (const computers of batches) {
    if (missing.size === 0) break;
    const values = { computers, names: [...missing.keys()], counts: [...missing.values()] };
    for (const row of await db.query<PackageRow>(text, values)) {
      const own = rows.get(row.name)!;
      if (own.at(-1)?.computer_id !== row.computer_id) missing.set(row.name, missing.get(row.name)! - 1);
      own.push(row);
    }
    for (const [name, count] of missing) if (count === 0) missing.delete(name);
  }
  return [...rows.values()].flat();
}

export interface ComputersWithSameVersions {
  computers: number[];
  versions: ReadonlyMap<number, readonly KnownVersion[]>;
}

/** What computers know of the packages of some versions, grouped by equal knowledge. Unknown ids are ignored. */
export async function readKnownVersions(db: Sql, computers: readonly number[], packages: readonly number[]) {
  const rows = await db.query<{ computers: number[]; known: Array<KnownVersion & { place: number }> }>(KNOWLEDGE, {
    computers,
    packages,
  });
  return rows.map(({ computers: same, known }) => ({
    computers: same,
    versions: Map.groupBy(known, ({ place }) => place),
  }));
}

/** Those of some packages whose ids agents of the account have received. */
export async function findReportablePackages(db: Sql, accountId: number, packages: readonly number[]) {
  const rows = await db.query<{ id: number }>(
    `select u.id from unnest(:packages::int[]) u(id) join account_packages k on k.account_id = :accountId and k.known @> u.id`,
    { accountId, packages },
  );
  return new Set(rows.map(({ id }) => id));
}

const AVAILABLE = '(s.available + s.available_upgrades)';

// Sets are reduced to the requested ids, and computers with equal remainders grouped, before any look-up.
const KNOWLEDGE = `
  with named as materialized (
    select a.place, p.id, p.version from unnest(:packages::int[]) with ordinality a(id, place)
    join package given on given.id = a.id join package p on p.name = given.name
  ), wanted as materialized (
    select coalesce(range_agg(int4range(id, id, '[]')), '{}') as ids from named
  ), mine as materialized (
    select c.id, s.installed * ids as installed, ${AVAILABLE} * ids as available, s.locked * ids as held
    from unnest(:computers::int[]) c(id) cross join wanted left join computer_packages s on s.computer_id = c.id
  ), same as materialized (
    select array_agg(id order by id) as computers, installed, available, held from mine
    group by installed, available, held
  )
  select s.computers, coalesce((
    select jsonb_agg(jsonb_build_object('place', n.place - 1, 'id', n.id, 'version', n.version,
      'installed', s.installed @> n.id, 'available', s.available @> n.id, 'held', s.held @> n.id) order by n.place, n.id)
    from named n where s.installed @> n.id or s.available @> n.id or s.held @> n.id), '[]') as known
  from same s order by s.computers[1]`;

const SETS: Readonly<Record<PackageState, string>> = {
  installed: 's.installed',
  available: AVAILABLE,
  upgrade: 's.available_upgrades',
  held: 's.locked',
  security: '(s.security * s.available_upgrades)',
};

const KNOWN = ['s.installed', 's.available', 's.available_upgrades'];
const HOLDING = {
  security: ['s.security'],
  upgrade: ['s.available_upgrades'],
  installed: ['s.installed'],
  available: ['s.available', 's.available_upgrades'],
} as const;

function columnsOf(states: PackageFilter['states']): readonly string[] {
  const restricted = (Object.keys(HOLDING) as Array<keyof typeof HOLDING>).find((state) => states[state]);
  if (restricted) return HOLDING[restricted];
  return states.available === false ? HOLDING.installed : KNOWN;
}

function overColumns(states: PackageFilter['states'], text: (column: string) => string, between: string): string {
  return columnsOf(states).map(text).join(between);
}

/** An available upgrade is not installed itself: with `upgrade` and `security` other states are about its package. */
function narrowed(set: string, states: PackageFilter['states']): string {
  const areNewer = states.upgrade === true || states.security === true;
  const isImplied = (state: PackageState) =>
    areNewer &&
    ((state === 'installed' && states.installed === true) || (state === 'available' && states.available === false));
  const setOf = (state: PackageState) => (areNewer && state === 'held' ? HELD_AT_ALL : SETS[state]);
  return (Object.keys(SETS) as PackageState[])
    .filter((state) => states[state] !== undefined && !isImplied(state))
    .reduce((text, state) => `(${text} ${states[state] ? '*' : '-'} ${setOf(state)})`, set);
}

const HELD_AT_ALL = `(
    select coalesce(range_agg(int4range(other.id, other.id, '[]')), '{}')
    from unnest(s.locked) r cross join lateral generate_series(lower(r), upper(r) - 1) as held(id)
    join package p on p.id = held.id join package other on other.name = p.name)`;

const NAMED = `
  select coalesce(range_agg(int4range(id, id, '[]')), '{}')::text as ids from package
  where (:search::text is null or name ilike :search or summary ilike :search) and (:names::text[] is null or name = any(:names))`;

/** Sets of the computers of a batch; materialized, or excluded computers would be searched as well. */
const BATCH = `
  batch as materialized (
    select s.computer_id, s.installed, s.available, s.available_upgrades, s.locked, s.security
    from unnest(:computers::int[]) c(id) join computer_packages s on s.computer_id = c.id
  )`;

/** Those of some packages that none of some computers has; checking for anything new is cheaper than set arithmetic. */
const unseenText = (states: PackageFilter['states']) => `
  with ${BATCH}
  select (
    :unseen::int4multirange - coalesce(range_agg(${narrowed('(mine * :unseen::int4multirange)', states)}), '{}')
  )::text as ids
  from batch s cross join lateral (values ${overColumns(states, (column) => `(${column})`, ', ')}) v(mine)
  where mine && :unseen::int4multirange`;

const NAMES = `
  with found as materialized (
    select name from package where id <@ (:ids::int4multirange - :unseen::int4multirange) group by name
  )
  select (select count(*)::int from found) as count,
    array(select name from found order by name limit :limit offset :offset) as names`;

/** The first of some computers that have or could have each of some names, as many as are missing per name. */
const rowsText = (states: PackageFilter['states']) => `
  with ${BATCH}, named as materialized (
    select n.place, n.missing, p.id, p.name, p.version, coalesce(p.summary, '') as summary
    from unnest(:names::text[], :counts::int[]) with ordinality n(name, missing, place) join package p on p.name = n.name
  ), searched as materialized (
    select range_agg(int4range(id, id, '[]')) as ids from named
  ), hit as materialized (
    select s.computer_id,
      ${narrowed(`(${overColumns(states, (column) => `${column} * ids`, ' + ')})`, states)} as wanted
    from batch s cross join searched where ${overColumns(states, (column) => `${column} && ids`, ' or ')}
  ), pair as (
    select distinct n.place, n.missing, h.computer_id
    from hit h cross join lateral unnest(h.wanted) r
    cross join lateral generate_series(lower(r), upper(r) - 1) as wanted(id)
    join named n on n.id = wanted.id
  ), shown as materialized (
    select place, computer_id
    from (select *, row_number() over (partition by place order by computer_id) as turn from pair) p
    where turn <= missing
  ), near as materialized (
    -- Of each computer no more than is shown: to take both sides apart is what an intersection costs.
    select computer_id, range_agg(int4range(id, id, '[]')) as ids
    from shown join named using (place) group by computer_id
  ), s as materialized (
    select computer_id, installed * ids as installed, available * ids as available,
      available_upgrades * ids as available_upgrades, locked * ids as locked, security * ids as security
    from batch join near using (computer_id)
  )
  select s.computer_id, n.id, n.name, n.version, n.summary, s.installed @> n.id as installed,
    ${AVAILABLE} @> n.id as available, s.available_upgrades @> n.id as upgrade, s.locked @> n.id as held,
    ${SETS.security} @> n.id as security
  from shown join s using (computer_id) join named n using (place)
  where s.installed @> n.id or s.available @> n.id or s.available_upgrades @> n.id
  order by place, computer_id, n.id`;
