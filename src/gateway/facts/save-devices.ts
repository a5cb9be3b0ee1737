import type { Sql } from '../../persistence/sql.ts';
import type { InstalledSnap, NetworkDevice } from './facts.ts';

/** Interfaces that were reported once and are gone stay known, as inactive ones; so many of them at most. */
const MAX_FORMER_INTERFACES = 256;

/** Replaces the active network devices; one that is not reported any more is kept as inactive. */
export async function saveNetwork(tx: Sql, computerId: number, devices: readonly NetworkDevice[]): Promise<void> {
  await tx.query(
    SAVE_NETWORK,
    [
      computerId,
      devices.map((device) => device.interface),
      devices.map((device) => device.ipAddress),
      devices.map((device) => device.macAddress),
      devices.map((device) => device.broadcastAddress),
      devices.map((device) => device.netmask),
      devices.map((device) => device.flags),
      devices.map((device) => device.active),
      devices.map((device) => device.speed),
      devices.map((device) => device.duplex),
      MAX_FORMER_INTERFACES,
    ],
    'gateway-save-network',
  );
}

/** Replaces the hardware lister's report. */
export async function saveHardware(tx: Sql, computerId: number, data: string, now: Date): Promise<void> {
  await tx.query(
    `insert into computer_hardware (computer_id, data, reported_at) values ($1, $2, $3)
     on conflict (computer_id) do update set data = excluded.data, reported_at = excluded.reported_at`,
    [computerId, data, now],
    'gateway-save-hardware',
  );
}

/** Replaces the installed snaps. */
export async function saveSnaps(tx: Sql, computerId: number, snaps: readonly InstalledSnap[]): Promise<void> {
  await tx.query(
    SAVE_SNAPS,
    [
      computerId,
      snaps.map((snap) => snap.name),
      snaps.map((snap) => snap.id),
      snaps.map((snap) => snap.version),
      snaps.map((snap) => snap.revision),
      snaps.map((snap) => snap.trackingChannel),
      snaps.map((snap) => snap.confinement),
      snaps.map((snap) => snap.heldUntil),
      snaps.map((snap) => snap.publisherUsername),
      snaps.map((snap) => snap.publisherValidation),
      snaps.map((snap) => snap.summary),
      snaps.map((snap) => snap.config),
    ],
    'gateway-save-snaps',
  );
}

const SAVE_NETWORK = `
  with former as (
    select interface, row_number() over (order by interface) as place
    from computer_network where computer_id = $1 and not (interface = any($2::text[]))
  ), forgotten as (
    delete from computer_network n using former f
    where n.computer_id = $1 and n.interface = f.interface and f.place > $11
  ), down as (
    update computer_network n set active = false from former f
    where n.computer_id = $1 and n.interface = f.interface and f.place <= $11 and n.active
  )
  insert into computer_network as known (computer_id, interface, ip_address, mac_address, broadcast_address, netmask,
    flags, active, speed, duplex)
  select $1, r.* from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[],
    $9::int[], $10::boolean[]) r
  on conflict (computer_id, interface) do update set ip_address = excluded.ip_address,
    mac_address = excluded.mac_address, broadcast_address = excluded.broadcast_address, netmask = excluded.netmask,
    flags = excluded.flags, active = excluded.active, speed = excluded.speed, duplex = excluded.duplex
  where known is distinct from excluded`;

const SAVE_SNAPS = `
  with gone as (
    delete from computer_snap where computer_id = $1 and not (name = any($2::text[]))
  )
  insert into computer_snap as known (computer_id, name, snap_id, version, revision, tracking_channel, confinement,
    held_until, publisher_username, publisher_validation, summary, config)
  select $1, r.* from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[]) r
  on conflict (computer_id, name) do update set snap_id = excluded.snap_id, version = excluded.version,
    revision = excluded.revision, tracking_channel = excluded.tracking_channel, confinement = excluded.confinement,
    held_until = excluded.held_until, publisher_username = excluded.publisher_username,
    publisher_validation = excluded.publisher_validation, summary = excluded.summary, config = excluded.config
  where known is distinct from excluded`;
