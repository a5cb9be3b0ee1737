import type { Sql } from '../../persistence/sql.ts';
import type { ComputerColumns, InventoryColumns } from './facts.ts';

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

/** Changes the reported columns of a computer; writes nothing when they say what is known already. */
export async function saveComputer(tx: Sql, computerId: number, columns: ComputerColumns): Promise<void> {
  await tx.query(SAVE_COMPUTER, [computerId, JSON.stringify(columns)], 'gateway-save-computer');
  if (columns.machine_id) await tx.query(FLAG_CLONE, [computerId], 'gateway-flag-clone');
}

/** As {@link saveComputer}, for facts kept beside the computer. */
export async function saveInventory(
  tx: Sql,
  computerId: number,
  columns: InventoryColumns,
  unparsed: Record<string, string>,
): Promise<void> {
  const values = [computerId, JSON.stringify(columns), JSON.stringify(unparsed)];
  await tx.query(SAVE_INVENTORY, values, 'gateway-save-inventory');
}

/**
 * Takes over the tags configured on the machine. Only what changed there has an effect: a tag that people added or
 * took away on the server stays as they left it. Chosen: the protocol leaves the merging to the server.
 */
export async function saveOwnTags(tx: Sql, computerId: number, tags: readonly string[]): Promise<void> {
  await tx.query(SAVE_TAGS, [computerId, tags], 'gateway-save-tags');
}

/** As {@link saveOwnTags}, for annotations: those of the machine replace equal keys, those made here stay. */
export async function saveOwnAnnotations(
  tx: Sql,
  computerId: number,
  annotations: Record<string, string>,
): Promise<void> {
  await tx.query(SAVE_ANNOTATIONS, [computerId, JSON.stringify(annotations)], 'gateway-save-annotations');
}

const SAVE_COMPUTER = `
  update computer c set (${COMPUTER_COLUMNS.join(', ')}) = (
    select ${COMPUTER_COLUMNS.map((column) => `r.${column}`).join(', ')} from jsonb_populate_record(c, $2::jsonb) r)
  where c.id = $1 and c is distinct from jsonb_populate_record(c, $2::jsonb)`;

// The older of two computers with one machine id counts as the original.
const FLAG_CLONE = `
  update computer c set clone_id = o.id
  from (
    select min(t.id) as id from computer c0 join computer t on t.account_id = c0.account_id
    where c0.id = $1 and t.machine_id = c0.machine_id and t.id < c0.id and t.state = 'approved' and not t.archived
  ) o
  where c.id = $1 and o.id is not null and c.clone_id is null`;

const SAVE_INVENTORY = `
  update computer_inventory i set (${INVENTORY_COLUMNS.join(', ')}, unparsed) = (
    select ${INVENTORY_COLUMNS.map((column) => `r.${column}`).join(', ')}, i.unparsed || $3::jsonb
    from jsonb_populate_record(i, $2::jsonb) r)
  where i.computer_id = $1
    and (i is distinct from jsonb_populate_record(i, $2::jsonb) or not i.unparsed @> $3::jsonb)`;

const SAVE_TAGS = `
  with known as (
    select client_tags from computer_inventory where computer_id = $1 for update
  ), noted as (
    update computer_inventory set client_tags = $2 where computer_id = $1 and client_tags is distinct from $2::text[]
  )
  update computer c set tags = array(
    select distinct tag from unnest(c.tags || array(
      select unnest($2::text[]) except select unnest(k.client_tags))) tag
    where not tag = any(array(select unnest(k.client_tags) except select unnest($2::text[])))
    order by tag)
  from known k where c.id = $1 and k.client_tags is distinct from $2::text[]`;

const SAVE_ANNOTATIONS = `
  with known as (
    select client_annotations from computer_inventory where computer_id = $1 for update
  ), noted as (
    update computer_inventory set client_annotations = $2
    where computer_id = $1 and client_annotations is distinct from $2::jsonb
  )
  update computer c
  set annotations = (c.annotations - array(select jsonb_object_keys(k.client_annotations))) || $2::jsonb
  from known k where c.id = $1 and k.client_annotations is distinct from $2::jsonb`;
