import type { Sql } from '../database/sql.ts';
import { type ComputerSelection, compileComputerQuery } from '../query/computer-conditions.ts';
import { Compilation } from '../query/compilation.ts';
import type { PageRequest } from '../database/page.ts';
import { blockSql, COMPUTER_BLOCKS, type ComputerBlock } from './computer-blocks.ts';
import { DETAILS, FIELDS, IS_WSL_HOST, JOINS, VISIBLE } from './computer-columns.ts';

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
interface ComputerReads {
  db: Sql;
  genericPlanDb: Sql;
}

/** One page in id order as the text of a JSON array, and the number of matches. Invisible relatives are left out. */
export async function listComputers(
  { db, genericPlanDb }: ComputerReads,
  filter: ComputerFilter,
  page: ComputerPage,
  view: ComputerView,
): Promise<{ count: number; resultsJson: string; nextPage: { after: number } | null }> {
  const { accountId, groups, selection } = filter;
  const condition = compileComputerQuery(selection, accountId);
  const values = { ...page, groups, ...condition.values };
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
  const condition = compileComputerQuery(selection, scope.accountId);
  const rows = await sql.query<{ id: number }>(
    `select c.id from computer c where ${VISIBLE} and not c.archived and ${condition.text} order by c.id`,
    { groups: scope.groups, ...condition.values },
  );
  return rows.map(({ id }) => id);
}

/** One computer in detail as JSON text; null when it is missing, not accepted or invisible. */
export async function findComputer(sql: Sql, { id, ...scope }: ComputerScope & { id: number }, view: ComputerView) {
  const [item] = await readComputers(sql, scope, [id], { ...view, detailed: true });
  return item ?? null;
}

/** As {@link findComputer}, with an entity tag; without the text when the tag is a `known` one. */
export async function findTaggedComputer(
  sql: Sql,
  { accountId, groups, id }: ComputerScope & { id: number },
  view: ComputerView,
  known: readonly string[] | null,
): Promise<{ tag: string; value: string | null } | null> {
  const detailed = { ...view, detailed: true };
  const compilation = new Compilation({ accountId, groups, ids: [id], now: view.now });
  const statement = tagged(itemsStatement(detailed, compilation));
  const values = { ...compilation.values, known };
  const name = nameOf(detailed);
  const [row] = await sql.query<{ tag: string; body: string | null; more: string | null }>(
    statement,
    values,
    name && `${name}-tagged`,
  );
  if (!row) return null;
  return { tag: row.tag, value: row.body === null ? null : withMore(row.body, row.more!) };
}

// An extra row shows whether there is another page. A query costs as much for a page as for all: it is run once.
function pageStatement(where: string, options: { afterId: boolean; once: boolean }): string {
  const { afterId, once } = options;
  const source = once ? 'matching c' : `computer c where ${where}`;
  const after = afterId ? `${once ? 'where' : 'and'} c.id > :after::int` : '';
  return `
with ${once ? `matching as materialized (select c.id from computer c where ${where}), ` : ''}page as materialized (
  select c.id from ${source} ${after} order by c.id limit :limit::int + 1 ${afterId ? '' : 'offset :offset'}
), found as (
  select coalesce(array_agg(id order by id), '{}') as ids, count(*)::int as size from page
)
select ids[: :limit::int] as ids, size > :limit::int as more, ${countOf(source, options)} as count
from found`;
}

/** On the last page, if not empty, offset and size give the total. */
function countOf(source: string, { afterId, once }: { afterId: boolean; once: boolean }): string {
  const counted = `(select count(*)::int from ${source})`;
  return afterId || once
    ? counted
    : `case when size between 1 and :limit::int then (:offset::bigint + size)::int else ${counted} end`;
}

const STATUS = { active: 'not c.archived', archived: 'c.archived', all: '' } as const;

function matching(filter: ComputerFilter, condition: string): string {
  const conditions = [VISIBLE, STATUS[filter.status], condition].filter((text) => text !== '');
  if (filter.rootOnly) conditions.push('c.parent_id is null');
  const kinds = [filter.wslParents ? IS_WSL_HOST : '', filter.wslChildren ? 'c.is_wsl' : ''].filter(Boolean);
  if (kinds.length > 0) conditions.push(`(${kinds.join(' or ')})`);
  return conditions.join(' and ');
}

interface ComputerView {
  blocks: ReadonlySet<ComputerBlock>;
  now: Date;
  detailed?: boolean;
  /** Names of the statements that are prepared so far. */
  named?: Set<string>;
}

export const WITHOUT_BLOCKS: ComputerView = { blocks: new Set(), now: new Date(0) };

/** Reads computers by id, in that order, each as JSON text. Missing and invisible ones are left out. */
export async function readComputers(
  sql: Sql,
  { accountId, groups }: ComputerScope,
  ids: readonly number[],
  view: ComputerView,
): Promise<string[]> {
  const compilation = new Compilation({ accountId, groups, ids, now: view.now });
  const statement = itemsStatement(view, compilation);
  const rows = await sql.query<{ id: number; body: string; more: string }>(statement, compilation.values, nameOf(view));
  const bodies = new Map(rows.map(({ id, body, more }) => [id, withMore(body, more)]));
  return ids.flatMap((id) => bodies.get(id) ?? []);
}

// Concatenated here: the database is slow at cutting multi-byte texts.
function withMore(body: string, more: string): string {
  return more === '' ? body : `${body.slice(0, -1)}${more}}`;
}

const tagged = (items: string) => `
with item as materialized (${items}), marked as materialized (
  select body, more, md5(body || more) as tag from item)
select tag, case when not known then body end as body, case when not known then more end as more
from marked cross join lateral (select coalesce(tag = any(:known::text[]), false) as known) k`;

function itemsStatement(view: ComputerView, compilation: Compilation): string {
  const { columns, joins, sometimes } = blockSql(view.blocks, compilation);
  return `
select c.id, row_to_json(shown)::text as body, ${sometimes} as more
from unnest(:ids::int[]) page(id) join computer c on c.id = page.id ${JOINS} ${joins}
cross join lateral (select ${FIELDS}${view.detailed ? DETAILS : ''}${columns}) shown
where ${VISIBLE}`;
}

/** Planning costs half as much as execution, but there are thousands of plans and each connection keeps its own. */
const MAX_NAMED = 32;

function nameOf({ blocks, detailed, named }: ComputerView): string | undefined {
  const chosen = COMPUTER_BLOCKS.map((block) => (blocks.has(block) ? '1' : '0')).join('');
  const name = `computer-${detailed ? 'detail' : 'items'}-${chosen}`;
  if (named && named.size < MAX_NAMED) named.add(name);
  return blocks.size === 0 || named?.has(name) ? name : undefined;
}

/** One page of the distinct tags of visible computers, in order, and the total number. @param groups - null for all */
export async function listTags(db: Sql, accountId: number, groups: readonly number[] | null, page: PageRequest) {
  const [row] = await db.query<{ count: number; tags: string[] }>(LIST, { ...page, accountId, groups });
  return row!;
}

const LIST = `
  with tag as materialized (
    select distinct t.name from computer c cross join unnest(c.tags) as t(name)
    where c.account_id = :accountId and c.state = 'approved' and not c.archived
      and (:groups::int[] is null or c.access_group_id = any(:groups))
  )
  select (select count(*)::int from tag) as count,
    array(select name from tag order by name limit :limit offset :offset) as tags`;
