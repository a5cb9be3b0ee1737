import type { ActivityCriterion } from '../../domain/query/activity-query.ts';
import type { Factor } from '../../domain/query/parser.ts';
import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { type ActivitySelection, compileActivityQuery, compileOnlyComputers } from '../query/activity-conditions.ts';
import {
  type ActivityScope,
  computersIn,
  onComputers,
  VISIBLE_ACTIVITIES,
  visibilityParameters,
  hasFullView,
  VISIBLE,
} from '../query/activity-visibility.ts';
import type { SqlCondition } from '../query/compilation.ts';
import { groupsOf } from '../query/group-scope.ts';

export type Counted = 'activities' | 'parents';

interface FoundPage extends SqlCondition {
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
  const { accountId } = scope;
  const { limit, offset } = page;
  const { clauses } = selection.query;
  if (hasFullView(scope) && clauses.length === 0) {
    const count = (sql: Sql) => countActivities(sql, accountId, counted);
    return { text: blockPage(counted), values: [accountId, limit, offset], count };
  }
  const parentsOnly = counted === 'parents';
  const found = onSomeComputers(scope, selection);
  if (found) {
    const from = `from found${parentsOnly ? ' where parent_id is null' : ''}`;
    const places = `limit $${found.values.length + 1} offset $${found.values.length + 2}`;
    const text = `${found.text}
     select (select count(*) ${from}) as count, array(select id ${from} order by id desc ${places}) as ids`;
    return foundPage(db, accountId, text, [...found.values, limit, offset]);
  }
  const condition = matching(scope, selection, parentsOnly ? ' and a.parent_id is null' : '');
  const values = [...condition.values, limit, offset];
  const ids = (source: string) => `${source} order by a.id desc limit $${values.length - 1} offset $${values.length}`;
  const all = `select a.id from activity a where ${condition.text}`;
  if (!clauses.flat().some(costsAllThatMatch)) {
    return { text: ids(all), values, count: (sql) => countWhere(sql, condition) };
  }
  return foundPage(
    db,
    accountId,
    `with matching as materialized (${all})
     select (select count(*) from matching) as count, array(${ids('select a.id from matching a')}) as ids`,
    values,
  );
}

/** No index returns its matches in order. A negated word matches nearly everything, so a page is found at once. */
function costsAllThatMatch({ criterion, negated }: Factor<ActivityCriterion>): boolean {
  return criterion.kind === 'computer' || (criterion.kind === 'keyword' && !negated);
}

function onSomeComputers(scope: ActivityScope, selection: ActivitySelection): SqlCondition | null {
  const { accountId, view } = scope;
  if (selection.query.clauses.length === 0)
    return view === 'all' ? null : { text: VISIBLE_ACTIVITIES, values: visibilityParameters(scope) };
  const computers = compileOnlyComputers(selection, { accountId, groups: groupsOf(view), firstParameter: 1 });
  return computers && { text: onComputers(computers.text), values: computers.values };
}

async function foundPage(
  db: Sql,
  accountId: number,
  statement: string,
  values: readonly unknown[],
): Promise<FoundPage> {
  const [row] = await db.query<{ count: number; ids: number[] }>(statement, values);
  const text = 'select a.id from activity a where a.account_id = $1 and a.id = any($2::int[])';
  return { text, values: [accountId, row!.ids], count: async () => row!.count };
}

async function countWhere(db: Sql, { text, values }: SqlCondition): Promise<number> {
  const [row] = await db.query<{ count: number }>(`select count(*) from activity a where ${text}`, values);
  return row!.count;
}

/** The condition of the visible matches; its first four parameters are the scope. */
export function matching(scope: ActivityScope, selection: ActivitySelection, further = ''): SqlCondition {
  const seen = visibilityParameters(scope);
  const filter = compileActivityQuery(selection, { accountId: seen[0], groups: seen[1], firstParameter: 5 });
  return { text: `${VISIBLE}${further} and ${filter.text}`, values: [...seen, ...filter.values] };
}

/** Exact number of an account's activities of a kind, from counters that change in the same transaction as the rows. */
export async function countActivities(db: Sql, accountId: number, counted: Counted): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select coalesce(sum(${counted}), 0)::int as count from activity_block where account_id = $1`,
    [accountId],
  );
  return row!.count;
}

/** SQL of a page of ids, newest first (`$1` account, `$2` limit, `$3` offset). Skips whole blocks by their counts. */
export function blockPage(counted: Counted): string {
  return `
    with block as materialized (
      select block, sum(sum(${counted})) over (order by block desc) as through, sum(${counted}) as size
      from activity_block where account_id = $1 group by block
    ), start as materialized (
      select block, (through - size)::bigint as before from block where through > $3 order by block desc limit 1
    )
    select a.id from activity a
    where a.account_id = $1 ${counted === 'parents' ? 'and a.parent_id is null' : ''}
      and a.id < ((select block from start) + 1)::bigint * 4096
    order by a.id desc limit $2 offset greatest(0, $3 - (select before from start))`;
}

/** One page of ids of the operations on some visible computers and of their groups, newest first, and their number. */
export async function listComputerActivities(
  db: Sql,
  accountId: number,
  computers: readonly number[],
  page: PageRequest,
): Promise<{ count: number; ids: number[] }> {
  const [row] = await db.query<{ count: number; ids: number[] }>(ON_COMPUTERS, {
    accountId,
    computers,
    limit: page.limit,
    offset: page.offset,
  });
  return row!;
}

const ON_COMPUTERS = `
  with own as (
    select id, parent_id from activity where account_id = :accountId and computer_id = any(:computers::int[])
  ), listed as (
    select id from own union select parent_id from own where parent_id is not null
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
export async function countVisible<T extends ChildCounters & { id: number }>(
  db: Sql,
  scope: ActivityScope,
  rows: T[],
): Promise<T[]> {
  const groups = groupsOf(scope.view);
  const parents = rows.filter((row) => row.children_count > 0).map((row) => row.id);
  if (groups === null || parents.length === 0) return rows;
  const counted = await db.query<ChildCounters & { id: number }>(COUNT, [scope.accountId, groups, parents]);
  const seen = new Map(counted.map((row) => [row.id, row]));
  return rows.map((row) => ({ ...row, ...seen.get(row.id) }));
}

const COUNT = `
  with counted as (
    select k.parent_id as id, count(*)::int as children_count, count(distinct k.computer_id)::int as computer_count,
      count(*) filter (where k.status = 'succeeded')::int as succeeded_count,
      count(*) filter (where k.status = 'failed')::int as failed_count,
      count(*) filter (where k.status = 'canceled')::int as canceled_count,
      count(*) filter (where ${isOpen('k.status')})::int as open_count,
      min(k.computer_id) as only
    from activity k where k.parent_id = any($3::int[]) and k.computer_id in ${computersIn('$2')}
    group by k.parent_id
  )
  select n.id, n.children_count, n.computer_count, n.succeeded_count, n.failed_count, n.canceled_count, n.open_count,
    case when n.computer_count = 1 then jsonb_build_object('id', n.only, 'title', coalesce(c.title, r.title)) end as computer
  from counted n left join computer c on c.id = n.only left join removed_computer r on r.id = n.only`;
