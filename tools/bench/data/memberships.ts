import type { Sql } from '../../../src/persistence/database/sql.ts';
import { draw } from './plan.ts';

interface FillOptions {
  accountId: number;
  seed: number;
  now: Date;
}

/** Shares of the computers that the profiles of one type cover, in order. */
const COVERED = [0.3, 0.1, 0.03, 0.01, 0.002, 0.0002];

const TYPES = 'package,reboot,removal,repository,upgrade,wsl';

const SEARCHES = {
  production: 'tag:production NOT alert:computer-offline',
  'needs-attention': 'alert:security-upgrades OR alert:computer-reboot',
  'amsterdam-web': 'tag:web tag:site-ams',
  'offline-desktops': 'tag:desktop alert:computer-offline',
};

/**
 * Gives planned computers what agents do not report: the account's licences, contracts, profiles and saved searches;
 * and dates the alerts that the rows raised. Sets of an earlier run are reused.
 */
export async function fillMemberships(tx: Sql, { accountId, seed, now }: FillOptions): Promise<void> {
  for (const statement of STATEMENTS) await tx.query(`${GIVEN} ${statement}`, [seed, now, accountId, COVERED]);
  await tx.query(
    `insert into saved_search (account_id, name, title, search)
     select $1, name, initcap(replace(name, '-', ' ')), search from unnest($2::text[], $3::text[]) s(name, search)
     on conflict (account_id, name) do nothing`,
    [accountId, Object.keys(SEARCHES), Object.values(SEARCHES)],
  );
}

// Every statement gets the same four parameters, needed or not.
const GIVEN = `with given as materialized (
  select $1::bigint as seed, $2::timestamptz as now, $3::int as account, $4::float8[] as covered)`;

const since = (salt: number, row = 's.computer_id') =>
  `date_trunc('second', $2::timestamptz - make_interval(secs => 60 + 2.5e6 * power(${draw(salt, row)}, 3)))`;

const LICENSED = `n.kind in (0, 1) and n.owner between 0.3 and 0.42 and not n.pending`;

const STATEMENTS = [
  `insert into legacy_license (account_id, title, expires)
   select $3, 'Licence ' || k, case when k % 6 > 0 then $2::timestamptz + make_interval(days => k * k * 7 - 20) end
   from generate_series(1, 12) k where not exists (select from legacy_license where account_id = $3)`,
  `insert into computer_license (computer_id, license_id)
   select n.id, l.ids[1 + floor(cardinality(l.ids) * power(n.place_in_rack, 2))::int]
   from planned n, (select array_agg(id order by id) as ids from legacy_license where account_id = $3) l
   where ${LICENSED} order by n.n`,
  `insert into contract (account_id, id, title, free, expires)
   select $3, 'c-own-' || k, 'Contract ' || k, k % 5 = 0, $2::timestamptz + make_interval(days => k * 40 - 30)
   from generate_series(1, 20) k on conflict do nothing`,
  `insert into computer_contract (account_id, computer_id, contract_id)
   select $3, n.id, 'c-own-' || 1 + floor(n.place_in_rack * 20)::int
   from planned n where n.kind < 2 and n.rarity between 0.9 and 0.93 and not n.pending order by n.n`,
  `insert into profile (account_id, type, id, name, title)
   select $3, type, k, type || '-' || k, initcap(type) || ' profile ' || k
   from unnest('{${TYPES}}'::text[]) type, generate_series(1, cardinality($4)) k
   on conflict do nothing`,
  `insert into computer_profile (account_id, type, profile_id, computer_id, status, status_since)
   select $3, p.type, p.id, n.id, case
       when p.type = 'wsl' and ${draw(200, '(n.n * 10 + p.id)')} < 0.9 then 'compliant'
       when p.type = 'wsl' or p.type = 'package' and n.trouble between 0.5 and 0.51 then 'noncompliant' end,
     ${since(306, 'n.id')}
   from planned n join profile p on p.account_id = $3 and p.id <= cardinality($4)
     and (p.type = 'wsl') = (n.kind = 2)
     and ${draw(201, `(n.n * 1000 + strpos('${TYPES}', p.type) + p.id * 47)`)} < $4[p.id]
   where not n.pending and not n.archived order by n.n, p.type, p.id`,
  `update computer_status s set
     regular_upgrades_since = case when regular_upgrades_since is not null then ${since(300)} end,
     security_upgrades_since = case when security_upgrades_since is not null then ${since(301)} end,
     package_reporter_since = case when package_reporter_since is not null then ${since(302)} end,
     reboot_since = case when reboot_since is not null then ${since(303)} end,
     esm_disabled_since = case when esm_disabled_since is not null then ${since(304)} end,
     duplicate_since = case when duplicate_since is not null then ${since(305)} end
   from planned n where n.id = s.computer_id`,
];
