import type { ActivityCriterion } from '../../domain/query/activity-query.ts';
import type { Factor } from '../../domain/query/parser.ts';
import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { type ActivitySelection, compileActivityQuery, compileOnlyComputers } from '../query/activity-conditions.ts';
import {
  type ActivityScope,
  hasFullView,
  onComputers,
  scopeParameters,
  VISIBLE,
  VISIBLE_ACTIVITIES,
  VISIBLE_COMPUTERS,
} from '../query/activity-visibility.ts';
import type { CompiledValues, SqlCondition } from '../query/compilation.ts';

export type Counted = 'activities' | 'parents';

type PageValues = CompiledValues & ReturnType<typeof scopeParameters>;

/** SQL of the ids of a page. The values are also those of its columns. */
export interface FoundPage {
  text: string;
  values: PageValues;
  count(db: Sql): Promise<number>;
}

/** Counts and skips unrestricted lists by blocks, evaluates costly queries once, reads all others in index order. */
export async function findPage(
  db: Sql,
  counted: Counted,
  scope: ActivityScope,
  selection: ActivitySelection,
  page: PageRequest,
): Promise<FoundPage> {
  const { clauses } = selection.query;
  const values = { ...page, ...scopeParameters(scope), now: selection.now };
  if (hasFullView(scope) && clauses.length === 0) {
    const count = (sql: Sql) => countActivities(sql, scope.accountId, counted);
    return { text: blockPage(counted), values, count };
  }
  const parentsOnly = counted === 'parents';
  const found = onSomeComputers(selection, values);
  if (found) {
    const from = `from found${parentsOnly ? ' where parent_id is null' : ''}`;
    const text = `${found.text}
     select (select count(*) ${from}) as count,
       array(select id ${from} order by id desc limit :limit offset :offset) as ids`;
    return foundPage(db, text, { ...values, ...found.values });
  }
  const condition = matching(scope, selection, parentsOnly ? ' and a.parent_id is null' : '');
  const ids = (source: string) => `${source} order by a.id desc limit :limit offset :offset`;
  const all = `select a.id from activity a where ${condition.text}`;
  if (!clauses.flat().some(costsAllThatMatch)) {
    return { text: ids(all), values: { ...values, ...condition.values }, count: (sql) => countWhere(sql, condition) };
  }
  return foundPage(
    db,
    `with matching as materialized (${all})
     select (select count(*) from matching) as count, array(${ids('select a.id from matching a')}) as ids`,
    { ...values, ...condition.values },
  );
}

/** No index returns its matches in order. A negated word matches nearly everything, so a page is found at once. */
function costsAllThatMatch({ criterion, negated }: Factor<ActivityCriterion>): boolean {
  return criterion.kind === 'computer' || (criterion.kind === 'keyword' && !negated);
}

function onSomeComputers(selection: ActivitySelection, values: PageValues): SqlCondition | null {
  if (selection.query.clauses.length === 0) return values.view && { text: VISIBLE_ACTIVITIES, values };
  const computers = compileOnlyComputers(selection, values);
  return computers && { ...computers, text: onComputers(computers.text) };
}

async function foundPage(db: Sql, statement: string, values: PageValues): Promise<FoundPage> {
  const [row] = await db.query<{ count: number; ids: number[] }>(statement, values);
  const text = 'select a.id from activity a where a.account_id = :accountId and a.id = any(:ids::int[])';
  return { text, values: { ...values, ids: row!.ids }, count: async () => row!.count };
}

async function countWhere(db: Sql, condition: SqlCondition): Promise<number> {
  const text = `select count(*) from activity a where ${condition.text}`;
  const [row] = await db.query<{ count: number }>(text, condition.values);
  return row!.count;
}

/** The condition of the visible matches. */
export function matching(scope: ActivityScope, selection: ActivitySelection, further = ''): SqlCondition {
  const filter = compileActivityQuery(selection, scopeParameters(scope));
  return { text: `${VISIBLE}${further} and ${filter.text}`, values: filter.values };
}

/** Exact number of an account's activities of a kind, from counters that change in the same transaction as the rows. */
export async function countActivities(db: Sql, accountId: number, counted: Counted): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select coalesce(sum(${counted}), 0)::int as count from activity_block where account_id = :accountId`,
    { accountId },
  );
  return row!.count;
}

/** SQL of a page of ids, newest first (`:accountId`, `:limit`, `:offset`). Skips whole blocks by their counts. */
export function blockPage(counted: Counted): string {
  return `
    with block as materialized (
      select block, sum(sum(${counted})) over (order by block desc) as through, sum(${counted}) as size
      from activity_block where account_id = :accountId group by block
    ), start as materialized (
      select block, (through - size)::bigint as before from block where through > :offset order by block desc limit 1
    )
    select a.id from activity a
    where a.account_id = :accountId ${counted === 'parents' ? 'and a.parent_id is null' : ''}
      and a.id < ((select block from start) + 1)::bigint * 4096
    order by a.id desc limit :limit offset greatest(0, :offset - (select before from start))`;
}

export interface ComputerOperations {
  computers: readonly number[];
  /** Without their groups. */
  operationsOnly: boolean;
  /** Only those that have not ended, or only those that have; null for both. */
  open: boolean | null;
}

/** One page of ids of the operations on some visible computers and of their groups, newest first, and their number. */
export async function listComputerActivities(
  db: Sql,
  accountId: number,
  which: ComputerOperations,
  page: PageRequest,
): Promise<{ count: number; ids: number[] }> {
  const [row] = await db.query<{ count: number; ids: number[] }>(ON_COMPUTERS, { ...page, accountId, ...which });
  return row!;
}

const ON_COMPUTERS = `
  with own as (
    select id, parent_id from activity a where account_id = :accountId and computer_id = any(:computers::int[])
      and (:open::boolean is null or :open = (${isOpen('a.status')}))
  ), listed as (
    select id from own union select parent_id from own where parent_id is not null and not :operationsOnly
  )
  select (select count(*)::int from listed) as count,
    array(select id from listed order by id desc limit :limit offset :offset) as ids`;

export type ChildCounters = Row<
  'activity',
  'children_count, computer_count, open_count, succeeded_count, failed_count, canceled_count'
> & {
  computer: { id: number; title: string } | null;
};

/** Reduces the counters of parents to the visible children. @see docs/api-conventions.md#access-groups-as-scope */
export async function countVisible<T extends ChildCounters & { id: number }>(db: Sql, scope: ActivityScope, rows: T[]) {
  const { accountId, view } = scopeParameters(scope);
  const parents = rows.filter((row) => row.children_count > 0).map((row) => row.id);
  if (view === null || parents.length === 0) return rows;
  const counted = await db.query<ChildCounters & { id: number }>(COUNT, { accountId, view, parents });
  const seen = new Map(counted.map((row) => [row.id, row]));
  return rows.map((row) => ({ ...row, ...seen.get(row.id) }));
}

/** Counters of `:parents` with only the visible children. */
export const COUNT = `
  with counted as (
    select k.parent_id as id, count(*)::int as children_count, count(distinct k.computer_id)::int as computer_count,
      count(*) filter (where k.status = 'succeeded')::int as succeeded_count,
      count(*) filter (where k.status = 'failed')::int as failed_count,
      count(*) filter (where k.status = 'canceled')::int as canceled_count,
      count(*) filter (where ${isOpen('k.status')})::int as open_count,
      min(k.computer_id) as only
    from activity k where k.parent_id = any(:parents::int[]) and k.computer_id in ${VISIBLE_COMPUTERS}
    group by k.parent_id
  )
  select n.id, n.children_count, n.computer_count, n.succeeded_count, n.failed_count, n.canceled_count, n.open_count,
    case when n.computer_count = 1 then jsonb_build_object('id', n.only, 'title', coalesce(c.title, r.title)) end as computer
  from counted n left join computer c on c.id = n.only left join removed_computer r on r.id = n.only`;
