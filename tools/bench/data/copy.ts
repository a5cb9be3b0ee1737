import type { Sql } from '../../../src/persistence/database/sql.ts';
import { uuid } from './plan.ts';

/** SQL of columns that differ from the prototype's, by table; `n` is the row of `planned`, `p` the prototype's. */
type Columns = Readonly<Record<string, string>>;

const TEAMS = ['platform', 'web', 'data', 'desktop', 'security'];

const annotations = `jsonb_strip_nulls(p.annotations || jsonb_build_object(
    'site', n.site, 'team', ('{${TEAMS.join(',')}}'::text[])[1 + floor(n.team * 5)::int],
    'rack', chr(97 + (n.owner * 3)::int) || (1 + floor(n.place_in_rack * 40))::int,
    'owner', case when n.owner < 0.7 then 'person-' || floor(power(2000, n.owner / 0.7))::int end,
    'asset-tag', case when n.kind < 2 then 'AT-' || lpad(n.n::text, 7, '0') end,
    'decommission', case when n.rarity < 0.002 then '2027-' || lpad((1 + floor(n.team * 12))::int::text, 2, '0') end))`;

// Besides the tags of its role: location, update ring, owner (by a power law) and a few rare ones.
const tags = `array(select distinct tag from unnest(p.tags || array[
      'site-' || n.site,
      case when n.ring < 0.01 then 'canary' when n.ring < 0.1 then 'ring-1' when n.ring < 0.4 then 'ring-2' else 'ring-3' end,
      case when n.project < 0.6 then 'project-' || floor(power(500, n.project / 0.6))::int end,
      case when n.project > 0.95 then 'project-' || floor(power(500, n.project * 20 - 19))::int end,
      case when n.rarity < 0.0005 then 'quarantine' when n.rarity < 0.003 then 'lab 1' end]) tag
    where tag is not null order by tag)`;

// A contract covers a hundred neighbours and ends with the others of the same year.
const proInfo = `case when p.distro_pro_info ? 'contract' then p.distro_pro_info || jsonb_build_object(
      'machine_id', n.machine_id,
      'expires', to_char($2::timestamptz + make_interval(days => 5 + (n.n / 100 * 37) % 800), 'YYYY-MM-DD"T00:00:00+00:00"'),
      'contract', p.distro_pro_info->'contract' || jsonb_build_object('id', 'c-' || left(md5($1::bigint || '/contract/' || n.n / 100), 8)),
      'account', p.distro_pro_info->'account' || jsonb_build_object('id', 'a-' || left(md5($1::bigint || '/account/' || n.n / 1000), 8)))
    else p.distro_pro_info end`;

const COMPUTER: Columns = {
  id: 'n.id',
  access_group_id: 'n.access_group_id',
  state: `case when n.pending then 'pending' else 'approved' end`,
  archived: 'n.archived',
  title: 'n.title',
  hostname: 'n.hostname',
  comment: `case when n.owner > 0.95 then 'Moved to ' || n.site || ' in week ' || (1 + floor(n.team * 52))::int else '' end`,
  tags,
  annotations,
  parent_id: 'n.parent_id',
  hostagent_uid: `case when p.hostagent_uid is not null then ${uuid(`'/hostagent/' || n.family`)}::text end`,
  machine_id: 'n.machine_id::text',
  clone_id: `case when n.block > 0 and n.rarity between 0.5 and 0.503 then n.id - n.per_block end`,
  employee_id: `case when n.kind in (1, 2) and n.owner < 0.6 then 'E' || (10000 + n.n)::text end`,
  cloud_instance_metadata: `case when p.cloud_instance_metadata ? 'instance-id' then p.cloud_instance_metadata
    || jsonb_build_object('instance-id', 'i-0' || left(md5($1::bigint || '/cloud/' || n.n), 16)) else p.cloud_instance_metadata end`,
  distro_pro_info: proInfo,
  created_at: 'n.created_at',
  registered_at: `case when not n.pending then n.created_at + interval '7 seconds' end`,
};

const ownHardware = (text: string) =>
  `replace(replace(replace(${text}, n.source_serial, n.serial), '52:54:00:' || n.source_mac, '52:54:00:' || n.mac_tail),
    '52:54:01:' || n.source_mac, '52:54:01:' || n.mac_tail)`;

/** Of every hundred, six have been silent for longer than their interval, a few of them for months. */
const silence = `case when n.contact < 0.94 then make_interval(secs => n.silence * 30)
      else make_interval(secs => 400 + 7e6 * power(n.silence, 4)) end`;

const PARTS: Readonly<Record<string, Columns>> = {
  agent: {
    in_next: 'case when not n.pending then 20 + floor(n.age * 5000)::bigint end',
    token: `case when not n.pending then ${uuid(`'/token/' || n.n`)} end`,
    registration_digest: `sha256(convert_to($1::bigint || '/registration/' || n.n, 'UTF8'))`,
  },
  agent_identity: {
    secure_id_hash: `sha256(convert_to($1::bigint || '/identity/' || n.n, 'UTF8'))`,
    created_at: 'n.created_at',
  },
  computer_contact: {
    last_ping_time: `case when not n.pending then date_trunc('second', $2::timestamptz - ${silence}) end`,
    last_exchange_time: `case when not n.pending then
      date_trunc('second', $2::timestamptz - ${silence} - make_interval(secs => n.team * 900)) end`,
    known_since: 'n.created_at',
  },
  computer_inventory: {
    client_annotations: `case when n.pending then '{}' else p.client_annotations || jsonb_build_object('site', n.site) end`,
    package_report: `case when n.trouble < 0.012 then p.package_report || '{"code": 1, "err": "E: The package cache file is corrupted"}'
      else p.package_report end`,
  },
  computer_network: {
    ip_address: `case when p.active and p.ip_address <> '0.0.0.0' then n.address else p.ip_address end`,
    broadcast_address: `case when p.ip_address <> '0.0.0.0' then n.broadcast else p.broadcast_address end`,
    mac_address: `left(p.mac_address, 9) || n.mac_tail`,
  },
  computer_hardware: {
    data: ownHardware('p.data'),
    flat: `${ownHardware('p.flat::text')}::json`,
    grouped: `${ownHardware('p.grouped::text')}::json`,
  },
};

/** Maintained by triggers on the other tables. */
const DERIVED = ['computer_status'];

/** The tables of a pending computer; nothing else is stored before it is accepted. */
const BEFORE_ACCEPTANCE = ['agent', 'agent_identity', 'computer_contact', 'computer_inventory'];

/** Copies the prototypes' own rows, one per planned computer. */
export async function copyComputers(tx: Sql, { seed, now }: { seed: number; now: Date }): Promise<void> {
  await copy(tx, 'computer', COMPUTER, 'p.id = n.source', { seed, now });
}

/**
 * Copies the rows that belong to the prototypes in every table with a column `computer_id`.
 * @param onTable - called with the next table
 */
export async function copyParts(
  tx: Sql,
  options: { seed: number; now: Date; onTable(name: string): void },
): Promise<void> {
  const tables = await tx.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'computer_id' and not a.attisdropped
       and c.relname <> all($1::text[])
     order by c.relname`,
    [DERIVED],
  );
  for (const { name } of tables) {
    options.onTable(name);
    const columns = { computer_id: 'n.id', ...PARTS[name] };
    const accepted = BEFORE_ACCEPTANCE.includes(name) ? '' : ' and not n.pending';
    await copy(tx, name, columns, `p.computer_id = n.source${accepted}`, options);
  }
}

/** Leaves columns with generated values to the server. */
async function copy(
  tx: Sql,
  table: string,
  own: Columns,
  on: string,
  { seed, now }: { seed: number; now: Date },
): Promise<void> {
  const columns = await tx.query<{ name: string }>(
    `select quote_ident(a.attname) as name from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and (a.attname = 'id' and $1 = 'computer' or a.attidentity = '' and coalesce(pg_get_expr(d.adbin, d.adrelid), '') not like 'nextval%')
     order by a.attnum`,
    [table],
  );
  const names = columns.map(({ name }) => name);
  const values = names.map((name) => own[name] ?? `p.${name}`);
  await tx.query(
    `with given as materialized (select $1::bigint as seed, $2::timestamptz as now)
     insert into ${table} (${names.join(', ')})
     select ${values.join(', ')} from planned n cross join lateral (select * from ${table} p where ${on} offset 0) p`,
    [seed, now],
  );
}
