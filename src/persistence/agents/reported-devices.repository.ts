import type { HardwareReport, InstalledSnap, NetworkDevice } from '../../domain/agents/facts.ts';
import type { Sql } from '../database/sql.ts';
import { computerIds, jsonKeys, type PerComputer, toColumns, toRows } from './per-computer.ts';

/** Maximum number of inactive interfaces, which are no longer reported; the latest are kept. */
const MAX_FORMER_INTERFACES = 256;

export async function saveNetworks(
  tx: Sql,
  reports: ReadonlyArray<PerComputer<readonly NetworkDevice[]>>,
): Promise<void> {
  const rows = toRows(reports);
  await tx.query(
    SAVE_NETWORKS,
    [
      computerIds(reports),
      reports.map(({ value }) => jsonKeys(value.map((device) => device.interface))),
      ...toColumns(
        rows,
        'interface',
        'ipAddress',
        'macAddress',
        'broadcastAddress',
        'netmask',
        'flags',
        'active',
        'speed',
        'duplex',
      ),
      MAX_FORMER_INTERFACES,
    ],
    'gateway-save-networks',
  );
}

/** An unreadable report never replaces a readable one. */
export async function saveHardware(
  tx: Sql,
  reports: ReadonlyArray<PerComputer<{ report: HardwareReport; now: Date }>>,
): Promise<void> {
  await tx.query(
    SAVE_HARDWARE,
    {
      computerIds: computerIds(reports),
      datas: reports.map(({ value }) => value.report.data),
      flats: reports.map(({ value }) => jsonOrNull(value.report.flat)),
      groupeds: reports.map(({ value }) => jsonOrNull(value.report.grouped)),
      nows: reports.map(({ value }) => value.now),
    },
    'gateway-save-hardware',
  );
}

function jsonOrNull(value: object | null): string | null {
  return value && JSON.stringify(value);
}

export async function saveSnaps(tx: Sql, reports: ReadonlyArray<PerComputer<readonly InstalledSnap[]>>): Promise<void> {
  const rows = toRows(reports);
  await tx.query(
    SAVE_SNAPS,
    [
      computerIds(reports),
      reports.map(({ value }) => jsonKeys(value.map((snap) => snap.name))),
      ...toColumns(
        rows,
        'name',
        'id',
        'version',
        'revision',
        'trackingChannel',
        'confinement',
        'heldUntil',
        'publisherUsername',
        'publisherValidation',
        'summary',
        'config',
      ),
    ],
    'gateway-save-snaps',
  );
}

const SAVE_HARDWARE = `
  insert into computer_hardware (computer_id, data, flat, grouped, reported_at)
  select * from unnest(:computerIds::int[], :datas::text[], :flats::json[], :groupeds::json[], :nows::timestamptz[])
  on conflict (computer_id) do update set data = excluded.data, flat = excluded.flat, grouped = excluded.grouped,
    reported_at = excluded.reported_at
  where excluded.flat is not null or computer_hardware.flat is null`;

// Unchanged rows are omitted from the insert, which would lock and log each of them. Interfaces that disappear with one
// report get the next number, as reports have no time.
const SAVE_NETWORKS = `
  with former as (
    select n.computer_id, n.interface, n.left_order,
      row_number() over (partition by n.computer_id order by n.left_order desc nulls first, n.interface) as place,
      coalesce(max(n.left_order) over (partition by n.computer_id), 0) + 1 as next_order
    from unnest($1::int[], $2::jsonb[]) v(id, present) join computer_network n on n.computer_id = v.id
    where not (v.present ? n.interface)
  ), forgotten as (
    delete from computer_network n using former f
    where n.computer_id = f.computer_id and n.interface = f.interface and f.place > $13
  ), down as (
    update computer_network n set active = false, left_order = f.next_order from former f
    where n.computer_id = f.computer_id and n.interface = f.interface and f.place <= $13 and f.left_order is null
  )
  insert into computer_network (computer_id, interface, ip_address, mac_address, broadcast_address, netmask, flags,
    active, speed, duplex)
  select r.* from unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
      $10::boolean[], $11::int[], $12::boolean[])
    r(computer_id, interface, ip_address, mac_address, broadcast_address, netmask, flags, active, speed, duplex)
    left join computer_network known on known.computer_id = r.computer_id and known.interface = r.interface
  where known.computer_id is null or known.left_order is not null
    or (known.ip_address, known.mac_address, known.broadcast_address, known.netmask, known.flags, known.active,
      known.speed, known.duplex) is distinct from
      (r.ip_address, r.mac_address, r.broadcast_address, r.netmask, r.flags, r.active, r.speed, r.duplex)
  on conflict (computer_id, interface) do update set ip_address = excluded.ip_address,
    mac_address = excluded.mac_address, broadcast_address = excluded.broadcast_address, netmask = excluded.netmask,
    flags = excluded.flags, active = excluded.active, speed = excluded.speed, duplex = excluded.duplex,
    left_order = null`;

const SAVE_SNAPS = `
  with removed as (
    delete from computer_snap s using unnest($1::int[], $2::jsonb[]) v(id, present)
    where s.computer_id = v.id and not (v.present ? s.name)
  )
  insert into computer_snap (computer_id, name, snap_id, version, revision, tracking_channel, confinement, held_until,
    publisher_username, publisher_validation, summary, config)
  select r.* from unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
    r(computer_id, name, snap_id, version, revision, tracking_channel, confinement, held_until, publisher_username,
      publisher_validation, summary, config)
    left join computer_snap known on known.computer_id = r.computer_id and known.name = r.name
  where known.computer_id is null
    or (known.snap_id, known.version, known.revision, known.tracking_channel, known.confinement, known.held_until,
      known.publisher_username, known.publisher_validation, known.summary, known.config) is distinct from
      (r.snap_id, r.version, r.revision, r.tracking_channel, r.confinement, r.held_until, r.publisher_username,
      r.publisher_validation, r.summary, r.config)
  on conflict (computer_id, name) do update set snap_id = excluded.snap_id, version = excluded.version,
    revision = excluded.revision, tracking_channel = excluded.tracking_channel, confinement = excluded.confinement,
    held_until = excluded.held_until, publisher_username = excluded.publisher_username,
    publisher_validation = excluded.publisher_validation, summary = excluded.summary, config = excluded.config`;
