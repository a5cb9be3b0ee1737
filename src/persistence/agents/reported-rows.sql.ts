import type { ProcessDelta, RowDelta, UserDelta } from '../../domain/agents/deltas.ts';
import type { InstalledSnap, NetworkDevice } from '../../domain/agents/facts.ts';
import type { Sql } from '../database/sql.ts';
import { arraysOf, type ColumnTypes, columnsOf, computerIds, type PerComputer, unnest } from './per-computer.ts';

const MAX_FORMER_INTERFACES = 256;

const NETWORK = {
  computerId: 'int',
  interface: 'text',
  ipAddress: 'text',
  macAddress: 'text',
  broadcastAddress: 'text',
  netmask: 'text',
  flags: 'bigint',
  active: 'boolean',
  speed: 'int',
  duplex: 'boolean',
};
const SNAP = {
  computerId: 'int',
  name: 'text',
  snapId: 'text',
  version: 'text',
  revision: 'text',
  trackingChannel: 'text',
  confinement: 'text',
  heldUntil: 'text',
  publisherUsername: 'text',
  publisherValidation: 'text',
  summary: 'text',
  config: 'text',
};
const USER = {
  computerId: 'int',
  username: 'text',
  uid: 'bigint',
  name: 'text',
  enabled: 'boolean',
  location: 'text',
  homePhone: 'text',
  workPhone: 'text',
  primaryGid: 'bigint',
};
const GROUP = { computerId: 'int', name: 'text', gid: 'bigint', reset: 'boolean' };
const MEMBERS = { computerId: 'int', name: 'text', joins: 'jsonb', leaves: 'jsonb' };
const PROCESS = {
  computerId: 'int',
  pid: 'int',
  name: 'text',
  state: 'text',
  uid: 'bigint',
  gid: 'bigint',
  startTime: 'bigint',
  vmSize: 'bigint',
  cpuUtilisation: 'real',
};
const KILL = { computerId: 'int', pid: 'int' };

type Reports<T> = ReadonlyArray<PerComputer<T>>;

/** Replaces the network interfaces of each computer; those that it no longer has become inactive. */
export async function saveNetworks(tx: Sql, reports: Reports<readonly NetworkDevice[]>): Promise<void> {
  const parameters = {
    computerIds: computerIds(reports),
    present: reports.map(({ value }) => jsonKeys(value.map((device) => device.interface))),
    max: MAX_FORMER_INTERFACES,
    ...arraysOf('r', NETWORK, toRows(reports)),
  };
  await tx.query(SAVE_NETWORKS, parameters, 'gateway-save-networks');
}

/** Replaces the snaps of each computer. */
export async function saveSnaps(tx: Sql, reports: Reports<readonly InstalledSnap[]>): Promise<void> {
  const parameters = {
    computerIds: computerIds(reports),
    present: reports.map(({ value }) => jsonKeys(value.map((snap) => snap.name))),
    ...arraysOf('r', SNAP, toRows(reports)),
  };
  await tx.query(SAVE_SNAPS, parameters, 'gateway-save-snaps');
}

/** Saves the deltas of different computers in one statement. */
export async function saveProcesses(tx: Sql, reports: Reports<ProcessDelta>): Promise<void> {
  const rows = reports.map(({ computerId, value }) => ({ computerId, value: value.present.values() }));
  const kills = reports.flatMap(({ computerId, value }) => [...value.removed].map((pid) => ({ computerId, pid })));
  const parameters = {
    resets: computerIds(reports.filter(({ value }) => value.resetAll)),
    ...arraysOf('k', KILL, kills),
    ...arraysOf('r', PROCESS, toRows(rows)),
  };
  await tx.query(SAVE_PROCESSES, parameters, 'gateway-save-processes');
}

/** Saves the deltas of different computers: users in one statement, groups and their members in two more. */
export async function saveUsers(tx: Sql, reports: Reports<UserDelta>): Promise<void> {
  const users = changesOf(reports, ({ users }) => users);
  if (users) await tx.query(SAVE_USERS, { ...users, ...arraysOf('r', USER, users.rows) }, 'gateway-save-users');
  const groups = changesOf(reports, ({ groups }) => groups);
  if (groups) await tx.query(SAVE_GROUPS, { ...groups, ...arraysOf('r', GROUP, groups.rows) }, 'gateway-save-groups');
  const members = reports.flatMap(({ computerId, value: { joins, leaves } }) =>
    [...new Set([...joins.keys(), ...leaves.keys()])].map((name) => ({
      computerId,
      name,
      joins: JSON.stringify([...(joins.get(name) ?? [])]),
      leaves: JSON.stringify([...(leaves.get(name) ?? [])]),
    })),
  );
  if (members.length > 0) await tx.query(SAVE_MEMBERS, arraysOf('c', MEMBERS, members), 'gateway-save-members');
}

function changesOf<T extends object>(all: Reports<UserDelta>, deltaOf: (delta: UserDelta) => RowDelta<string, T>) {
  const changed = all.filter(({ value }) => {
    const { present, removed } = deltaOf(value);
    return value.resetAll || present.size + removed.size > 0;
  });
  if (changed.length === 0) return null;
  return {
    computerIds: computerIds(changed),
    resets: changed.map(({ value }) => value.resetAll),
    removed: changed.map(({ value }) => jsonKeys(deltaOf(value).removed)),
    present: changed.map(({ value }) => jsonKeys(deltaOf(value).present.keys())),
    rows: changed.flatMap(({ computerId, value }) =>
      [...deltaOf(value).present.values()].map((row) => ({ ...row, computerId, reset: value.resetAll })),
    ),
  };
}

function toRows<T extends object>(reports: Reports<Iterable<T>>): Array<T & { computerId: number }> {
  return reports.flatMap(({ computerId, value }) => [...value].map((row) => ({ ...row, computerId })));
}

function jsonKeys(names: Iterable<string>): string {
  return JSON.stringify(Object.fromEntries([...names].map((name) => [name, 0])));
}

/** The first two columns are the key. `reset`: a nullable column that becomes null in every written row. */
function upsert(table: string, types: ColumnTypes, reset?: string): string {
  const [computer, key, ...values] = columnsOf(types) as [string, string, ...string[]];
  const of = (alias: string) => values.map((column) => `${alias}.${column}`).join(', ');
  const set = [...values.map((column) => `${column} = excluded.${column}`), ...(reset ? [`${reset} = null`] : [])];
  // Unchanged rows are omitted, as a conflict would lock and log each of them.
  return `
  insert into ${table} (${[computer, key, ...values].join(', ')})
  select r.* from ${unnest('r', types)} 
    left join ${table} known on known.${computer} = r.${computer} and known.${key} = r.${key}
  where known.${computer} is null ${reset ? `or known.${reset} is not null` : ''}
    or (${of('known')}) is distinct from (${of('r')})
  on conflict (${computer}, ${key}) do update set ${set.join(', ')}`;
}

// Interfaces that disappear with one report get the next number, as reports have no time.
const SAVE_NETWORKS = `
  with former as (
    select n.computer_id, n.interface, n.left_order,
      row_number() over (partition by n.computer_id order by n.left_order desc nulls first, n.interface) as place,
      coalesce(max(n.left_order) over (partition by n.computer_id), 0) + 1 as next_order
    from unnest(:computerIds::int[], :present::jsonb[]) v(id, present) join computer_network n on n.computer_id = v.id
    where not (v.present ? n.interface)
  ), forgotten as (
    delete from computer_network n using former f
    where n.computer_id = f.computer_id and n.interface = f.interface and f.place > :max
  ), down as (
    update computer_network n set active = false, left_order = f.next_order from former f
    where n.computer_id = f.computer_id and n.interface = f.interface and f.place <= :max and f.left_order is null
  )
  ${upsert('computer_network', NETWORK, 'left_order')}`;

const SAVE_SNAPS = `
  with removed as (
    delete from computer_snap s using unnest(:computerIds::int[], :present::jsonb[]) v(id, present)
    where s.computer_id = v.id and not (v.present ? s.name)
  )
  ${upsert('computer_snap', SNAP)}`;

const removeRows = (table: string, key: string) => `
  delete from ${table} t
  using unnest(:computerIds::int[], :resets::boolean[], :removed::jsonb[], :present::jsonb[])
    v(id, reset, removed, present)
  where t.computer_id = v.id and (v.reset or v.removed ? t.${key}) and not (v.present ? t.${key})`;

const SAVE_USERS = `with removed as (${removeRows('computer_user', 'username')}) ${upsert('computer_user', USER)}`;

const SAVE_GROUPS = `
  with removed as (${removeRows('computer_group', 'name')})
  insert into computer_group (computer_id, name, gid, members)
  select r.computer_id, r.name, r.gid, case when r.reset then '{}' else coalesce(known.members, '{}') end
  from ${unnest('r', GROUP)}
    left join computer_group known on known.computer_id = r.computer_id and known.name = r.name
  where known.computer_id is null or known.gid is distinct from r.gid or (r.reset and known.members <> '{}')
  on conflict (computer_id, name) do update set gid = excluded.gid, members = excluded.members`;

const SAVE_MEMBERS = `
  update computer_group g set members = array(
    select distinct member from (
      select unnest(g.members) as member union select jsonb_array_elements_text(c.joins)
    ) m where not (c.leaves ? member) order by member)
  from ${unnest('c', MEMBERS)}
  where g.computer_id = c.computer_id and g.name = c.name`;

// A row cannot be touched twice: those written again are not deleted. No delta has a pid as both ended and running.
const SAVE_PROCESSES = `
  with removed as (
    delete from computer_process p using unnest(:resets::int[]) f(computer_id)
    where p.computer_id = f.computer_id and not exists (
      select from unnest(:r_computerId::int[], :r_pid::int[]) u(computer_id, pid)
      where u.computer_id = p.computer_id and u.pid = p.pid)
  ), ended as (
    delete from computer_process p using ${unnest('k', KILL)}
    where p.computer_id = k.computer_id and p.pid = k.pid
  )
  insert into computer_process as known
    (computer_id, pid, name, state, uid, gid, start_time, vm_size, cpu_utilisation)
  select r.* from ${unnest('r', PROCESS)}
  on conflict (computer_id, pid) do update set name = excluded.name, state = excluded.state, uid = excluded.uid,
    gid = excluded.gid, start_time = excluded.start_time, vm_size = excluded.vm_size,
    cpu_utilisation = excluded.cpu_utilisation
  where known is distinct from excluded`;
