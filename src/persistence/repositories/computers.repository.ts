import type { SqlCondition } from '../query/compilation.ts';
import { type ComputerSelection, compileComputerQuery } from '../query/computer-conditions.ts';
import type { Sql } from '../sql.ts';

/** Whose computers, and which of them. */
export interface ComputerFilter {
  accountId: number;
  /** Viewable access groups; null for all. */
  groups: readonly number[] | null;
  archived: boolean;
  rootOnly: boolean;
  /** Restrict to WSL hosts, to WSL instances, or to both when both are set. */
  wslParents: boolean;
  wslChildren: boolean;
  /** What the caller asked for beyond that. */
  selection: ComputerSelection;
}

/** Keys that every item has besides the bare computer. */
export interface ComputerExtras {
  annotations: boolean;
  rebootPackages: boolean;
}

/**
 * One page of computers in id order as the text of a JSON array, and the number of all that match, in one statement.
 * Parents and children outside the viewable groups are left out.
 */
export async function listComputers(
  sql: Sql,
  filter: ComputerFilter,
  page: { limit: number; offset: number },
  extras: ComputerExtras,
): Promise<{ count: number; resultsJson: string }> {
  const condition = compileComputerQuery(filter.selection, { accountId: filter.accountId, firstParameter: 5 });
  const rows = await sql.query<{ count: number; results: string }>(listStatement(filter, condition, extras), [
    filter.accountId,
    filter.groups,
    page.limit,
    page.offset,
    ...condition.values,
  ]);
  const { count, results } = rows[0]!;
  return { count, resultsJson: results };
}

/** Ids in order of approved computers that are not archived, in the access groups given (null for all). */
export async function selectComputers(
  sql: Sql,
  scope: { accountId: number; groups: readonly number[] | null },
  selection: ComputerSelection,
): Promise<number[]> {
  const { text, values } = compileComputerQuery(selection, { accountId: scope.accountId, firstParameter: 3 });
  const rows = await sql.query<{ id: number }>(
    `select c.id from computer c where ${VISIBLE} and not c.archived and ${text} order by c.id`,
    [scope.accountId, scope.groups, ...values],
  );
  return rows.map(({ id }) => id);
}

/** One computer in detail as JSON text, or null when it is not there, not approved, or not in the viewable groups. */
export async function findComputer(
  sql: Sql,
  scope: { accountId: number; groups: readonly number[] | null; id: number },
  extras: ComputerExtras,
): Promise<string | null> {
  const rows = await sql.query<{ result: string }>(detailStatement(extras), [scope.accountId, scope.groups, scope.id]);
  return rows[0]?.result ?? null;
}

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** The keys of a parent or child, which lists and details share. */
const BARE = `
  c.id, c.title, c.comment, c.hostname, c.total_memory, c.total_swap,
  c.reboot_required as reboot_required_flag, coalesce(c.update_manager_prompt, '') as update_manager_prompt, c.clone_id,
  ${time('contact.last_exchange_time')} as last_exchange_time, ${time('contact.last_ping_time')} as last_ping_time,
  (select coalesce(array_agg(tag order by tag), '{}') from unnest(c.tags) tag) as tags,
  g.name as access_group, c.distribution, c.distribution_info, c.cloud_instance_metadata, c.cloud_init,
  c.vm_info, c.container_info, c.distro_pro_info, c.is_wsl as is_wsl_instance, c.archived, c.employee_id,
  ${time('c.registered_at')} as registered_at`;

const FROM = `computer c join access_group g on g.id = c.access_group_id
  left join computer_contact contact on contact.computer_id = c.id`;

const VISIBLE = `c.account_id = $1 and c.state = 'approved' and ($2::int[] is null or c.access_group_id = any($2))`;

function extraColumns(extras: ComputerExtras): string {
  return [
    extras.annotations ? ', c.annotations' : '',
    extras.rebootPackages
      ? `, (select coalesce(array_agg(p order by p), '{}') from unnest(c.reboot_packages) p) as reboot_packages`
      : '',
  ].join('');
}

function matching(filter: ComputerFilter, condition: SqlCondition): string {
  const conditions = [VISIBLE, filter.archived ? 'c.archived' : 'not c.archived', condition.text];
  if (filter.rootOnly) conditions.push('c.parent_id is null');
  const kinds = [
    filter.wslParents ? '(c.hostagent_uid is not null and not c.is_wsl)' : '',
    filter.wslChildren ? 'c.is_wsl' : '',
  ].filter((kind) => kind !== '');
  if (kinds.length > 0) conditions.push(`(${kinds.join(' or ')})`);
  return conditions.join(' and ');
}

/** Parents and children of the rows of `page`, each once, found by index. */
const FAMILY = `
  relative as (
    select k.id from page join computer k on k.parent_id = page.id
    union
    select p.parent_id from page join computer p on p.id = page.id where p.parent_id is not null
  ), bare as materialized (
    select c.id as bare_id, c.parent_id as of, c.is_default_child as is_default, row_to_json(r) as body
    from relative join ${FROM.replace('computer c', 'computer c on c.id = relative.id')}
    cross join lateral (select ${BARE}) r
    where ${VISIBLE} and not c.archived
  ), kids as (
    select bare.of, json_agg(bare.body order by bare_id) as children,
      (json_agg(json_build_object('id', bare_id, 'title', bare.body->'title', 'hostname', bare.body->'hostname')
        order by bare_id) filter (where is_default))->0 as default_child
    from bare where bare.of in (select id from page) group by bare.of
  )`;

const FAMILY_COLUMNS = `
  , coalesce(kids.children, '[]'::json) as children, parent.body as parent, kids.default_child,
  case when c.is_wsl then coalesce(c.is_default_child, false) end as is_default_child`;

const FAMILY_JOINS = `left join kids on kids.of = c.id left join bare parent on parent.bare_id = c.parent_id`;

function listStatement(filter: ComputerFilter, condition: SqlCondition, extras: ComputerExtras): string {
  const where = matching(filter, condition);
  return `
with page as materialized (
  select c.id from computer c where ${where} order by c.id limit $3 offset $4
), ${FAMILY}
select (select count(*)::int from computer c where ${where}) as count,
  coalesce((select json_agg(item order by item.id) from (
    select ${BARE}${extraColumns(extras)}${FAMILY_COLUMNS}
    from page join ${FROM.replace('computer c', 'computer c on c.id = page.id')} ${FAMILY_JOINS}
  ) item), '[]')::text as results`;
}

function detailStatement(extras: ComputerExtras): string {
  return `
with page as materialized (select c.id from computer c where ${VISIBLE} and c.id = $3), ${FAMILY}
select row_to_json(item)::text as result from (
  select ${BARE}${extraColumns(extras)}${FAMILY_COLUMNS},
    c.hotpatch_info, c.distro_pro_reboot_required_info, coalesce(json_array_length(kids.children), 0) as num_child
  from page join ${FROM.replace('computer c', 'computer c on c.id = page.id')} ${FAMILY_JOINS}
) item`;
}
