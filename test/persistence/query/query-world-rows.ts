import type { Database } from '../../../src/persistence/database/sql.ts';
import {
  CONTRACTS,
  GROUPS,
  inDays,
  PROFILE_TYPES,
  SEATS,
  USG_PROFILES,
  type UsgProfileName,
  type UsgState,
  type WorldComputer,
} from './query-world.ts';

/** A world in the database. */
export interface StoredWorld {
  /** Ids of the accounts, and of each computer by its place in the world. */
  accounts: readonly [number, number];
  ids: number[];
  /** Ids of the licences of each account. */
  seats: ReadonlyArray<{ seat: number; 'old seat': number }>;
  /** Ids of the USG profiles of each account. */
  usg: ReadonlyArray<Readonly<Record<UsgProfileName, number>>>;
}

/** Stores a world for two accounts that have nothing but their root group yet. */
export async function storeQueryWorld(
  db: Database,
  world: readonly WorldComputer[],
  accounts: readonly [number, number],
): Promise<StoredWorld> {
  const seats = [await storeAccount(db, accounts, 0), await storeAccount(db, accounts, 1)];
  const json = JSON.stringify(world.map((computer) => ({ ...computer, account_id: accounts[computer.account] })));
  const rows = await db.query<{ id: number }>(COMPUTERS, [json]);
  const ids = rows.map(({ id }) => id);
  for (const statement of FACTS) await db.query(statement, [json, ids]);
  const licences = world.flatMap(({ license, account, index }) =>
    license ? [{ computer: ids[index], license: seats[account]![license] }] : [],
  );
  await db.query(
    `insert into computer_license select * from jsonb_to_recordset($1::jsonb) as l(computer int, license int)`,
    [JSON.stringify(licences)],
  );
  const usg = [await storeUsgProfiles(db, accounts[0]), await storeUsgProfiles(db, accounts[1])];
  await storeAudits(db, world, ids, usg);
  return { accounts, ids, seats, usg };
}

async function storeUsgProfiles(db: Database, account: number): Promise<Record<UsgProfileName, number>> {
  const profiles = Object.entries(USG_PROFILES).map(([name, profile]) => ({ name, ...profile }));
  const rows = await db.query<{ name: UsgProfileName; id: number }>(
    `insert into usg_profile (account_id, access_group_id, creator_id, name, title, all_computers, tags, benchmark, mode,
       schedule, start_date, planned_dates, restart_deliver_delay, restart_deliver_delay_window, creation_time,
       modification_time, archived)
     select $1, g.id, 1, p.name, p.name, p."all", p.tags, 'cis_level1_server', 'audit', 'FREQ=WEEKLY', now(), '{}', 0, 0,
       now(), now(), p.name = 'archived'
     from jsonb_to_recordset($2::jsonb) as p(name text, "group" text, "all" boolean, tags text[])
     join access_group g on g.account_id = $1 and g.name = p."group" returning name, id`,
    [account, JSON.stringify(profiles)],
  );
  return Object.fromEntries(rows.map(({ name, id }) => [name, id])) as Record<UsgProfileName, number>;
}

/** Every state of one profile and place is a run, which ends where nothing of it is open. */
async function storeAudits(
  db: Database,
  world: readonly WorldComputer[],
  ids: readonly number[],
  usg: StoredWorld['usg'],
): Promise<void> {
  const audits = world.flatMap(({ index, account, audits: own }) =>
    Object.entries(own).flatMap(([name, states]) =>
      states.map((state, place) => ({
        computer: ids[index]!,
        profile: usg[account]![name as UsgProfileName],
        place,
        state,
      })),
    ),
  );
  const runs = Map.groupBy(
    audits.toSorted((a, b) => a.place - b.place),
    ({ profile, place }) => `${profile} ${place}`,
  );
  for (const run of runs.values()) {
    const of = (state: UsgState) => run.filter((audit) => audit.state === state).map(({ computer }) => computer);
    const open = of('queued');
    const states = run.map(({ state }) => (['queued', 'canceled'].includes(state) ? 'not-started' : state));
    await db.query(RUN, [run[0]!.profile, open, of('in-progress').length, run.map(({ computer }) => computer), states]);
  }
}

const RUN = `
  with profile as (
    select id, account_id from usg_profile where id = $1
  ), parent as (
    insert into activity (account_id, type, summary, status, open_count, children_count)
    select account_id, 'UsgActivity', 'audit', 'undelivered', cardinality($2::int[]), cardinality($2::int[]) from profile
    returning id, account_id
  ), child as (
    insert into activity (account_id, parent_id, type, summary, status, computer_id)
    select account_id, id, 'UsgActivity', 'audit', 'undelivered', unnest($2::int[]) from parent
  ), run as (
    insert into usg_run (account_id, profile_id, activity_id, started_at, in_progress_count)
    select p.account_id, p.id, parent.id, now(), $3 from profile p, parent returning id, profile_id
  )
  insert into usg_audit (computer_id, profile_id, run_id, state)
  select a.computer, run.profile_id, run.id, a.state from run, unnest($4::int[], $5::text[]) as a(computer, state)`;

async function storeAccount(db: Database, accounts: readonly [number, number], which: 0 | 1) {
  const account = accounts[which];
  for (const [name, parent] of Object.entries(GROUPS)) {
    await db.query(
      `insert into access_group (account_id, name, title, parent_id)
       select $1, $2, $2, (select id from access_group where account_id = $1 and name = $3)
       on conflict (account_id, name) do nothing`,
      [account, name, parent],
    );
  }
  const contracts = CONTRACTS.map(({ id, free, days }) => ({
    account_id: account,
    id,
    title: id,
    free: which === 0 ? free : !free,
    expires: days === null ? null : inDays(days + which),
  }));
  await db.query('insert into contract select * from jsonb_populate_recordset(null::contract, $1::jsonb)', [
    JSON.stringify(contracts),
  ]);
  await db.query(
    `insert into profile select $1, type, id, type || id, type || id
     from unnest($2::text[]) type, generate_series(1, 2) id`,
    [account, PROFILE_TYPES],
  );
  const [seat, oldSeat] = await db.query<{ id: number }>(
    'insert into legacy_license (account_id, expires) values ($1, $2), ($1, $3) returning id',
    [account, inDays(SEATS.seat + which), inDays(SEATS['old seat'] + which)],
  );
  return { seat: seat!.id, 'old seat': oldSeat!.id };
}

const COMPUTERS = `
  insert into computer (account_id, access_group_id, state, archived, title, hostname, tags, annotations, distribution,
    distribution_info, update_manager_prompt, reboot_required, cloud_instance_metadata, cloud_init, distro_pro_info)
  select w.account_id, g.id, w.state, w.archived, w.title, w.hostname, w.tags, w.annotations, w.distribution,
    nullif(w.info, 'null'), w.prompt, w.reboot, w.cloud, w."cloudInit", nullif(w.pro, 'null')
  from jsonb_to_recordset($1::jsonb) as w(index int, account_id int, "group" text, state text, archived boolean,
    title text, hostname text, tags text[], annotations jsonb, distribution text, info jsonb, prompt text,
    reboot boolean, cloud jsonb, "cloudInit" jsonb, pro jsonb)
  join access_group g on g.account_id = w.account_id and g.name = w."group"
  order by w.index returning id`;

const WORLD = `from jsonb_array_elements($1::jsonb) w cross join lateral (
  select ($2::int[])[(w->>'index')::int + 1] as id, (w->>'account_id')::int as account_id) c`;

const FACTS = [
  `insert into computer_network (computer_id, interface, ip_address, mac_address, broadcast_address, netmask, flags, active)
   select c.id, 'eth' || n.place, n.device->>'ip', n.device->>'mac', '', '', 0, (n.device->>'active')::boolean
   ${WORLD} cross join jsonb_array_elements(w->'devices') with ordinality n(device, place)`,
  `insert into computer_contact (computer_id, last_ping_time, known_since)
   select c.id, now() - make_interval(mins => (w->>'silentMinutes')::int), now() - interval '1 year' ${WORLD}`,
  `insert into computer_inventory (computer_id, package_report)
   select c.id, jsonb_build_object('code', case when (w->>'reporterFailed')::boolean then 1 else 0 end) ${WORLD}`,
  `insert into computer_packages (computer_id, available_upgrades, security, updated_at)
   select c.id, int4multirange(int4range(1, 1 + (w->'upgrades'->>'regular')::int),
     int4range(100, 100 + (w->'upgrades'->>'security')::int)), int4multirange(int4range(100, 200)), now() ${WORLD}`,
  `insert into computer_contract (account_id, computer_id, contract_id)
   select c.account_id, c.id, k.id ${WORLD} cross join jsonb_array_elements_text(w->'contracts') k(id)`,
  `insert into computer_profile (account_id, computer_id, type, profile_id, status)
   select c.account_id, c.id, p->>'type', (p->>'id')::int, p->>'status'
   ${WORLD} cross join jsonb_array_elements(w->'profiles') p`,
];
