import type { Sql } from '../../../src/persistence/database/sql.ts';
import { PATTERN } from '../../simulator/inventory/roles.ts';
import type { Prototype } from './prototypes.ts';

export interface PlanOptions {
  accountId: number;
  seed: number;
  now: Date;
  computers: number;
}

const SITES = ['ams', 'fra', 'lon', 'nyc', 'sgp'];
const KINDS = ['server', 'desktop', 'windows', 'wsl'];
const TOP_GROUPS = ['servers', 'desktops', 'windows'];

/** SQL of a uniform random number in [0, 1), determined by the seed, the salt and the row. */
export function draw(salt: number, row = 'n'): string {
  return `((hashint8extended(${row}::bigint * 1000 + ${salt}, $1) & 9007199254740991)::float8 / 9007199254740992)`;
}

/** SQL of a UUID determined by the seed and a text. */
export function uuid(text: string): string {
  return `overlay(md5($1::bigint || ${text}) placing '5' from 13)::uuid`;
}

const macTail = (index: string) => `regexp_replace(lpad(to_hex(${index}), 6, '0'), '(..)(..)(..)', '\\1:\\2:\\3')`;

/**
 * Creates the access groups: one per kind of computer below the root, one per site below each.
 * @remarks Existing groups of these names are reused.
 */
export async function makeGroups(tx: Sql, accountId: number): Promise<void> {
  const names = TOP_GROUPS.flatMap((top) => [[top, 'global'], ...SITES.map((site) => [`${top}-${site}`, top])]);
  for (const [name, parent] of names) {
    await tx.query(
      `insert into access_group (account_id, name, title, parent_id)
       select $1, $2::text, initcap(replace($2::text, '-', ' ')), id from access_group where account_id = $1 and name = $3
       on conflict (account_id, name) do nothing`,
      [accountId, name, parent],
    );
  }
}

/**
 * Plans every computer in one statement: the temporary table `planned`, one row each in order of `n`.
 * @remarks Reserves a contiguous range of ids from the table's sequence, under a lock that blocks other writers.
 */
export async function planComputers(tx: Sql, options: PlanOptions, prototypes: readonly Prototype[]): Promise<void> {
  await tx.query('lock table computer in share row exclusive mode');
  const [row] = await tx.query<{ first: number }>(
    `select setval('computer_id_seq', nextval('computer_id_seq') + $1::int - 1)::int - $1::int + 1 as first`,
    [options.computers],
  );
  const alike = PATTERN.map((role) => PATTERN.filter(({ prefix }) => prefix === role.prefix).length);
  const before = PATTERN.map((role, place) => PATTERN.slice(0, place).filter((r) => r.prefix === role.prefix).length);
  await tx.query(PLAN, [
    options.seed,
    options.computers,
    PATTERN.length,
    prototypes.map(({ id }) => id),
    prototypes.map(({ serial }) => serial),
    PATTERN.map(({ prefix }) => prefix),
    PATTERN.map(({ kind }) => KINDS.indexOf(kind)),
    PATTERN.map(({ host }) => host ?? null),
    alike,
    before,
    options.now,
    row!.first,
    options.accountId,
    SITES,
  ]);
  await tx.query('create index on planned (n)');
  await tx.query('analyze planned');
}

// A draw for `family` holds for the host and its instances.
const PLAN = `
  create temporary table planned on commit drop as
  with place as (
    select n, n % $3::int as place, n / $3::int as block,
      n - n % $3::int + coalesce(($8::int[])[n % $3::int + 1], n % $3::int) as family,
      floor(${draw(1, '(n / $3::int)')} * (cardinality($4::int[]) / $3::int))::int * $3::int + n % $3::int + 1 as source_at
    from generate_series(0, $2::int - 1) n
  ), drawn as (
    select n, place, block, family, source_at, ($6::text[])[place + 1] as prefix, ($7::int[])[place + 1] as kind,
      ($8::int[])[place + 1] as host, block * ($9::int[])[place + 1] + ($10::int[])[place + 1] + 1 as number,
      ($14::text[])[1 + floor(power(${draw(2)}, 1.6) * 5)::int] as site,
      ${draw(3, 'family')} as archival, ${draw(4)} as admission, ${draw(5)} as ring, ${draw(6)} as project,
      ${draw(7)} as rarity, ${draw(8)} as contact, ${draw(9)} as silence, ${draw(10)} as age, ${draw(11)} as team,
      ${draw(12)} as owner, ${draw(13)} as place_in_rack, ${draw(14)} as trouble
    from place
  )
  select d.*, $3::int as per_block, $12::int + n as id, ($4::int[])[source_at] as source, ($5::text[])[source_at] as source_serial,
    prefix || '-' || number as title,
    case when kind = 2 then upper(prefix || '-' || number)
      else prefix || '-' || number || '.' || site || '.example.com' end as hostname,
    archival < 0.02 as archived, kind < 2 and archival >= 0.02 and admission < 0.003 as pending,
    case when host is not null then $12::int + n - place + host end as parent_id,
    '10.' || 16 + ((n + 16) >> 16) || '.' || (((n + 16) >> 8) & 255) || '.' || ((n + 16) & 255) as address,
    '10.' || 16 + ((n + 16) >> 16) || '.255.255' as broadcast,
    ${macTail('n')} as mac_tail, ${macTail('source_at - 1')} as source_mac,
    ${uuid(`'/machine/' || n`)} as machine_id, upper(left(md5($1::bigint || '/serial/' || n), 10)) as serial,
    (select g.id from access_group g where g.account_id = $13::int
      and g.name = case when admission > 0.93 then 'global' else (array['servers', 'desktops', 'windows', 'windows'])[kind + 1]
        || case when admission > 0.9 then '' else '-' || site end end) as access_group_id,
    $11::timestamptz - make_interval(secs => (1 - (n + age) / $2::int) * 94e6 + 3600) as created_at
  from drawn d order by n`;
