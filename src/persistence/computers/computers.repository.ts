import type { Sql } from '../database/sql.ts';
import { type ComputerSelection, compileComputerQuery } from '../query/computer-conditions.ts';
import { IS_WSL_HOST, VISIBLE } from './computer-columns.ts';
import { type ComputerView, readComputers } from './computer-items.ts';

/** An account and its visible access groups; null for all. */
export interface ComputerScope {
  accountId: number;
  groups: readonly number[] | null;
}

export interface ComputerFilter extends ComputerScope {
  status: 'active' | 'archived' | 'all';
  rootOnly: boolean;
  /** Restricts to WSL hosts, to WSL instances, or, when both are set, to both. */
  wslParents: boolean;
  wslChildren: boolean;
  selection: ComputerSelection;
}

/** At most `limit` computers after the id `after`, or, if that is null, after `offset` others. */
export interface ComputerPage {
  limit: number;
  offset: number;
  after: number | null;
}

/** `genericPlanDb` runs the statements that find rows by id. */
export interface ComputerReads {
  db: Sql;
  genericPlanDb: Sql;
}

/**
 * One page of computers in id order as the text of a JSON array, and the number of matches, by one statement that finds
 * and one that reads them. Parents and children in invisible access groups are left out.
 */
export async function listComputers(
  { db, genericPlanDb }: ComputerReads,
  filter: ComputerFilter,
  page: ComputerPage,
  view: ComputerView,
): Promise<{ count: number; resultsJson: string; nextPage: { after: number } | null }> {
  const { accountId, groups, selection } = filter;
  const condition = compileComputerQuery(selection, { accountId, firstParameter: 5 });
  const values = [accountId, groups, page.limit, page.after ?? page.offset, ...condition.values];
  const statement = pageStatement(matching(filter, condition.text), {
    afterId: page.after !== null,
    once: filter.status !== 'active' || selection.query.clauses.length > 0,
  });
  const rows = await db.query<{ count: number; ids: number[]; more: boolean }>(statement, values);
  const { count, ids, more } = rows[0]!;
  const items = ids.length === 0 ? [] : await readComputers(genericPlanDb, filter, ids, view);
  return { count, resultsJson: `[${items.join(',')}]`, nextPage: more ? { after: ids.at(-1)! } : null };
}

/** Ids in order of accepted computers that are not archived, in the given access groups (null for all). */
export async function selectComputers(sql: Sql, scope: ComputerScope, selection: ComputerSelection): Promise<number[]> {
  const { text, values } = compileComputerQuery(selection, { accountId: scope.accountId, firstParameter: 3 });
  const rows = await sql.query<{ id: number }>(
    `select c.id from computer c where ${VISIBLE} and not c.archived and ${text} order by c.id`,
    [scope.accountId, scope.groups, ...values],
  );
  return rows.map(({ id }) => id);
}

/** One computer in detail as JSON text; null when it is missing, not accepted or invisible. */
export async function findComputer(
  sql: Sql,
  { id, ...scope }: ComputerScope & { id: number },
  view: ComputerView,
): Promise<string | null> {
  const [item] = await readComputers(sql, scope, [id], { ...view, detailed: true });
  return item ?? null;
}

// An extra row shows whether there is another page. Without a query the page comes from the index of the list. A query
// is evaluated once for page and count: most conditions cost as much for a page as for all matches.
function pageStatement(where: string, options: { afterId: boolean; once: boolean }): string {
  const { afterId, once } = options;
  const source = once ? 'matching c' : `computer c where ${where}`;
  const after = afterId ? `${once ? 'where' : 'and'} c.id > $4::int` : '';
  return `
with ${once ? `matching as materialized (select c.id from computer c where ${where}), ` : ''}page as materialized (
  select c.id from ${source} ${after} order by c.id limit $3::int + 1 ${afterId ? '' : 'offset $4'}
), found as (
  select coalesce(array_agg(id order by id), '{}') as ids, count(*)::int as size from page
)
select ids[:$3::int] as ids, size > $3::int as more, ${countOf(source, options)} as count
from found`;
}

/** On the last page, if not empty, offset and size give the total. */
function countOf(source: string, { afterId, once }: { afterId: boolean; once: boolean }): string {
  const counted = `(select count(*)::int from ${source})`;
  return afterId || once
    ? counted
    : `case when size between 1 and $3::int then ($4::bigint + size)::int else ${counted} end`;
}

const STATUS = { active: 'not c.archived', archived: 'c.archived', all: '' } as const;

function matching(filter: ComputerFilter, condition: string): string {
  const conditions = [VISIBLE, STATUS[filter.status], condition].filter((text) => text !== '');
  if (filter.rootOnly) conditions.push('c.parent_id is null');
  const kinds = [filter.wslParents ? IS_WSL_HOST : '', filter.wslChildren ? 'c.is_wsl' : ''].filter(Boolean);
  if (kinds.length > 0) conditions.push(`(${kinds.join(' or ')})`);
  return conditions.join(' and ');
}
