import type { Sql } from '../../../persistence/database/sql.ts';
import type { ComputerColumns, InventoryColumns } from '../facts.ts';
import { idsOf, type Of } from './set-wise.ts';

/** Columns of `computer` that agents may set; everything else in that row belongs to people. */
const COMPUTER_COLUMNS = [
  'hostname',
  'machine_id',
  'total_memory',
  'total_swap',
  'reboot_required',
  'reboot_packages',
  'update_manager_prompt',
  'distribution',
  'distribution_info',
  'cloud_instance_metadata',
  'cloud_init',
  'distro_pro_info',
  'hotpatch_info',
  'distro_pro_reboot_required_info',
] as const satisfies ReadonlyArray<keyof ComputerColumns>;

const INVENTORY_COLUMNS = [
  'client_types',
  'processors',
  'snap_device',
  'snap_services',
  'apt_preferences',
  'package_report',
] as const satisfies ReadonlyArray<keyof InventoryColumns>;

/** Changes the reported columns of computers; writes nothing where they say what is known already. */
export async function saveComputers(tx: Sql, reports: ReadonlyArray<Of<ComputerColumns>>): Promise<void> {
  await tx.query(SAVE_COMPUTERS, [idsOf(reports), jsonOf(reports)], 'gateway-save-computers');
  const named = reports.filter(({ value }) => value.machine_id);
  if (named.length > 0) await tx.query(FLAG_CLONES, [idsOf(named)], 'gateway-flag-clones');
}

/** As {@link saveComputers}, for facts kept beside the computer. */
export async function saveInventories(
  tx: Sql,
  reports: ReadonlyArray<Of<{ columns: InventoryColumns; unparsed: Record<string, string> }>>,
): Promise<void> {
  const columns = reports.map(({ value }) => JSON.stringify(value.columns));
  const unparsed = reports.map(({ value }) => JSON.stringify(value.unparsed));
  await tx.query(SAVE_INVENTORIES, [idsOf(reports), columns, unparsed], 'gateway-save-inventories');
}

/**
 * Takes over the tags configured on the machines. Only what changed there has an effect: a tag that people added or
 * took away on the server stays as they left it. Chosen: the protocol leaves the merging to the server.
 */
export async function saveOwnTags(tx: Sql, reports: ReadonlyArray<Of<readonly string[]>>): Promise<void> {
  await tx.query(SAVE_TAGS, [idsOf(reports), jsonOf(reports)], 'gateway-save-tags');
}

/** As {@link saveOwnTags}, for annotations: those of the machine replace equal keys, those made here stay. */
export async function saveOwnAnnotations(tx: Sql, reports: ReadonlyArray<Of<Record<string, string>>>): Promise<void> {
  await tx.query(SAVE_ANNOTATIONS, [idsOf(reports), jsonOf(reports)], 'gateway-save-annotations');
}

/**
 * Locks computers in order, before several statements change them: whoever holds messages back or lets them go locks
 * computers in that order too.
 */
export async function lockComputers(tx: Sql, computers: readonly number[]): Promise<void> {
  await tx.query(LOCK, [computers], 'gateway-lock-computers');
}

function jsonOf(reports: ReadonlyArray<Of<unknown>>): string[] {
  return reports.map(({ value }) => JSON.stringify(value));
}

const LOCK = 'select id from computer where id = any($1::int[]) order by id for no key update';

const SAVE_COMPUTERS = `
  update computer c set (${COMPUTER_COLUMNS.join(', ')}) = (
    select ${COMPUTER_COLUMNS.map((column) => `r.${column}`).join(', ')} from jsonb_populate_record(c, v.columns) r)
  from unnest($1::int[], $2::jsonb[]) v(id, columns)
  where c.id = v.id and c is distinct from jsonb_populate_record(c, v.columns)`;

// The older of two computers with one machine id counts as the original. All of one machine are found before it is asked
// which of them counts: without statistics PostgreSQL would look for them among all that are older and approved.
const FLAG_CLONES = `
  with twin as materialized (
    select c0.id as clone, t.id, t.state, t.archived
    from unnest($1::int[]) v(id)
      cross join lateral (select id, account_id, machine_id from computer where id = v.id offset 0) c0
      cross join lateral (
        select id, state, archived from computer
        where account_id = c0.account_id and machine_id = c0.machine_id offset 0) t
  ), original as (
    select clone, min(id) as id from twin where id < clone and state = 'approved' and not archived group by clone
  )
  update computer c set clone_id = o.id from original o where c.id = o.clone and c.clone_id is null`;

// Agents send what changed of a device's identity.
const reported = (column: string) =>
  column === 'snap_device' ? 'coalesce(i.snap_device || r.snap_device, r.snap_device)' : `r.${column}`;

const SAVE_INVENTORIES = `
  update computer_inventory i set (${INVENTORY_COLUMNS.join(', ')}, unparsed) = (
    select ${INVENTORY_COLUMNS.map(reported).join(', ')}, i.unparsed || v.unparsed
    from jsonb_populate_record(i, v.columns) r)
  from unnest($1::int[], $2::jsonb[], $3::jsonb[]) v(id, columns, unparsed)
  where i.computer_id = v.id
    and (i is distinct from jsonb_populate_record(i, v.columns) or not i.unparsed @> v.unparsed)`;

const SAVE_TAGS = `
  with known as (
    select i.computer_id, i.client_tags, array(select jsonb_array_elements_text(v.tags)) as reported
    from unnest($1::int[], $2::jsonb[]) v(id, tags) join computer_inventory i on i.computer_id = v.id
    for update of i
  ), noted as (
    update computer_inventory i set client_tags = k.reported
    from known k where i.computer_id = k.computer_id and i.client_tags is distinct from k.reported
  )
  update computer c set tags = array(
    select distinct tag from unnest(c.tags || array(
      select unnest(k.reported) except select unnest(k.client_tags))) tag
    where not tag = any(array(select unnest(k.client_tags) except select unnest(k.reported)))
    order by tag)
  from known k where c.id = k.computer_id and k.client_tags is distinct from k.reported`;

const SAVE_ANNOTATIONS = `
  with known as (
    select i.computer_id, i.client_annotations, v.reported
    from unnest($1::int[], $2::jsonb[]) v(id, reported) join computer_inventory i on i.computer_id = v.id
    for update of i
  ), noted as (
    update computer_inventory i set client_annotations = k.reported
    from known k where i.computer_id = k.computer_id and i.client_annotations is distinct from k.reported
  )
  update computer c
  set annotations = (c.annotations - array(select jsonb_object_keys(k.client_annotations))) || k.reported
  from known k where c.id = k.computer_id and k.client_annotations is distinct from k.reported`;
