import { Compilation } from '../query/compilation.ts';
import { type ComputerSelection, compileComputerQuery } from '../query/computer-conditions.ts';
import type { Sql } from '../sql.ts';
import { blockSql, type ComputerView } from './computer-blocks.ts';
import { FAMILY, FAMILY_FIELDS, FAMILY_JOINS, FIELDS, fromComputers, IS_WSL_HOST, VISIBLE } from './computer-fields.ts';

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

/**
 * One page of computers in id order as the text of a JSON array, and the number of all that match, in one statement
 * whatever blocks are asked for. Parents and children outside the viewable groups are left out.
 */
export async function listComputers(
  sql: Sql,
  filter: ComputerFilter,
  page: { limit: number; offset: number },
  view: ComputerView,
): Promise<{ count: number; resultsJson: string }> {
  const { accountId, groups, selection } = filter;
  const condition = compileComputerQuery(selection, { accountId, firstParameter: 5 });
  const firstParameter = 5 + condition.values.length;
  const shown = new Compilation({ accountId, now: view.now, firstParameter });
  const statement = listStatement(matching(filter, condition.text), items(view, shown));
  const values = [accountId, groups, page.limit, page.offset, ...condition.values, ...shown.values];
  const rows = await sql.query<{ count: number; results: string }>(statement, values);
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
  view: ComputerView,
): Promise<string | null> {
  const shown = new Compilation({ accountId: scope.accountId, now: view.now, firstParameter: 4 });
  const statement = detailStatement(items(view, shown, DETAILS));
  const values = [scope.accountId, scope.groups, scope.id, ...shown.values];
  const rows = await sql.query<{ body: string }>(statement, values);
  return rows[0]?.body ?? null;
}

function matching(filter: ComputerFilter, condition: string): string {
  const conditions = [VISIBLE, filter.archived ? 'c.archived' : 'not c.archived', condition];
  if (filter.rootOnly) conditions.push('c.parent_id is null');
  const kinds = [filter.wslParents ? IS_WSL_HOST : '', filter.wslChildren ? 'c.is_wsl' : ''].filter(Boolean);
  if (kinds.length > 0) conditions.push(`(${kinds.join(' or ')})`);
  return conditions.join(' and ');
}

// A page that is neither empty nor full is the last one, and tells the number of all by itself.
function listStatement(where: string, shown: string): string {
  return `
with page as materialized (
  select c.id from computer c where ${where} order by c.id limit $3 offset $4
), size as (
  select count(*)::int as rows from page
), ${FAMILY}, item as (${shown} order by c.id)
select (case when size.rows between 1 and $3::int - 1 then $4::int + size.rows
    else (select count(*)::int from computer c where ${where}) end) as count,
  coalesce((select '[' || string_agg(item.body, ',') || ']' from item), '[]') as results
from size`;
}

function detailStatement(shown: string): string {
  return `
with page as materialized (select c.id from computer c where ${VISIBLE} and c.id = $3), ${FAMILY}
${shown}`;
}

const DETAILS = `, c.hotpatch_info, c.distro_pro_reboot_required_info,
  coalesce(json_array_length(kids.children), 0) as num_child`;

/** The computers of `page`, each as the text of a JSON object named `body`. */
function items(view: ComputerView, compilation: Compilation, further = ''): string {
  const { columns, joins, sometimes } = blockSql(view, compilation);
  const fields = 'row_to_json(fields)::text';
  const body = sometimes === '' ? fields : `left(${fields}, -1)${sometimes} || '}'`;
  return `
  select ${body} as body from ${fromComputers('page')} ${FAMILY_JOINS} ${joins}
  cross join lateral (select ${FIELDS}, ${FAMILY_FIELDS}${further}${columns}) fields`;
}
