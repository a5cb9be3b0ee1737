import type { HardwareReport } from '../../domain/agents/facts.ts';
import { type ComputerReport, REPORTED_COLUMNS } from '../computers/computer.entity.ts';
import { INVENTORY_COLUMNS, type InventoryReport } from '../computers/computer-facts.entity.ts';
import type { Sql } from '../database/sql.ts';
import { computerIds, type PerComputer } from './per-computer.ts';

/** Unchanged rows are not written. */
export async function saveComputers(tx: Sql, reports: ReadonlyArray<PerComputer<ComputerReport>>): Promise<void> {
  await tx.query(SAVE_COMPUTERS, parametersOf(reports), 'gateway-save-computers');
  const named = reports.filter(({ value }) => value.machine_id);
  if (named.length > 0) await tx.query(FLAG_CLONES, { computerIds: computerIds(named) }, 'gateway-flag-clones');
}

/** Overwrites the reported columns only. Unchanged rows are not written. */
export async function saveInventories(
  tx: Sql,
  reports: ReadonlyArray<PerComputer<{ columns: InventoryReport; unparsed: Record<string, string> }>>,
): Promise<void> {
  const columns = reports.map(({ value }) => JSON.stringify(value.columns));
  const unparsed = reports.map(({ value }) => JSON.stringify(value.unparsed));
  await tx.query(
    SAVE_INVENTORIES,
    { computerIds: computerIds(reports), columns, unparsed },
    'gateway-save-inventories',
  );
}

/** Merges the tags configured on the machines. Only changes there have an effect: edits by people stay. */
export async function saveClientTags(tx: Sql, reports: ReadonlyArray<PerComputer<readonly string[]>>): Promise<void> {
  await tx.query(SAVE_TAGS, parametersOf(reports), 'gateway-save-tags');
}

/** As {@link saveClientTags}: annotations of the machine replace those with the same key, others stay. */
export async function saveClientAnnotations(tx: Sql, reports: ReadonlyArray<PerComputer<Record<string, string>>>) {
  await tx.query(SAVE_ANNOTATIONS, parametersOf(reports), 'gateway-save-annotations');
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

/** Locks computers in the common order before several statements change them. */
export async function lockComputers(tx: Sql, computers: readonly number[]): Promise<void> {
  await tx.query(LOCK, { computers }, 'gateway-lock-computers');
}

function parametersOf(reports: ReadonlyArray<PerComputer<unknown>>) {
  return { computerIds: computerIds(reports), reports: reports.map(({ value }) => JSON.stringify(value)) };
}

const LOCK = 'select id from computer where id = any(:computers::int[]) order by id for no key update';

const SAVE_COMPUTERS = `
  update computer c set (${REPORTED_COLUMNS.join(', ')}) = (
    select ${REPORTED_COLUMNS.map((column) => `r.${column}`).join(', ')} from jsonb_populate_record(c, v.columns) r)
  from unnest(:computerIds::int[], :reports::jsonb[]) v(id, columns)
  where c.id = v.id and c is distinct from jsonb_populate_record(c, v.columns)`;

// The older one with a machine id is the original. Materialized: else PostgreSQL would scan all approved computers.
const FLAG_CLONES = `
  with twin as materialized (
    select c0.id as clone, t.id, t.state, t.archived
    from unnest(:computerIds::int[]) v(id)
      cross join lateral (select id, account_id, machine_id from computer where id = v.id offset 0) c0
      cross join lateral (
        select id, state, archived from computer
        where account_id = c0.account_id and machine_id = c0.machine_id offset 0) t
  ), original as (
    select clone, min(id) as id from twin where id < clone and state = 'approved' and not archived group by clone
  )
  update computer c set clone_id = o.id from original o where c.id = o.clone and c.clone_id is null`;

// Agents send only changes of a device's identity.
const reported = (column: string) =>
  column === 'snap_device' ? 'coalesce(i.snap_device || r.snap_device, r.snap_device)' : `r.${column}`;

const SAVE_INVENTORIES = `
  update computer_inventory i set (${INVENTORY_COLUMNS.join(', ')}, unparsed) = (
    select ${INVENTORY_COLUMNS.map(reported).join(', ')}, i.unparsed || v.unparsed
    from jsonb_populate_record(i, v.columns) r)
  from unnest(:computerIds::int[], :columns::jsonb[], :unparsed::jsonb[]) v(id, columns, unparsed)
  where i.computer_id = v.id
    and (i is distinct from jsonb_populate_record(i, v.columns) or not i.unparsed @> v.unparsed)`;

const SAVE_HARDWARE = `
  insert into computer_hardware (computer_id, data, flat, grouped, reported_at)
  select * from unnest(:computerIds::int[], :datas::text[], :flats::json[], :groupeds::json[], :nows::timestamptz[])
  on conflict (computer_id) do update set data = excluded.data, flat = excluded.flat, grouped = excluded.grouped,
    reported_at = excluded.reported_at
  where excluded.flat is not null or computer_hardware.flat is null`;

const SAVE_TAGS = `
  with known as (
    select i.computer_id, i.client_tags, array(select jsonb_array_elements_text(v.tags)) as reported
    from unnest(:computerIds::int[], :reports::jsonb[]) v(id, tags) join computer_inventory i on i.computer_id = v.id
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
    from unnest(:computerIds::int[], :reports::jsonb[]) v(id, reported) join computer_inventory i on i.computer_id = v.id
    for update of i
  ), noted as (
    update computer_inventory i set client_annotations = k.reported
    from known k where i.computer_id = k.computer_id and i.client_annotations is distinct from k.reported
  )
  update computer c
  set annotations = (c.annotations - array(select jsonb_object_keys(k.client_annotations))) || k.reported
  from known k where c.id = k.computer_id and k.client_annotations is distinct from k.reported`;
