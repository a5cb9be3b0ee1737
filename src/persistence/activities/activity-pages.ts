import type { ActivityCriterion } from '../../domain/query/activity-query.ts';
import type { Factor } from '../../domain/query/parser.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { type ActivitySelection, compileActivityQuery, compileOnlyComputers } from '../query/activity-conditions.ts';
import {
  type ActivityScope,
  onComputers,
  VISIBLE_ACTIVITIES,
  visibilityParameters,
  hasFullView,
  VISIBLE,
} from '../query/activity-visibility.ts';
import type { SqlCondition } from '../query/compilation.ts';
import { groupsOf } from '../query/group-scope.ts';
import { blockPage, type Counted, countActivities } from './activity-blocks.ts';

/** SQL of the ids of a page, with `$1` the account, and of the number of all matches. */
export interface FoundPage extends SqlCondition {
  count(db: Sql): Promise<number>;
}

/**
 * Unrestricted lists are counted and skipped by blocks. Queries about computers or with a plain word, and lists
 * restricted to access groups, cost as much for a page as for all matches and are evaluated once. All others are read
 * in index order.
 */
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
  const found = onSomeComputers(scope, selection);
  if (found) return pageOnComputers(db, counted, accountId, found, page);
  const condition = matching(scope, selection, counted === 'parents' ? ' and a.parent_id is null' : '');
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

/** The filter of a query for all activities on some computers, named or visible to the caller; else null. */
function onSomeComputers(scope: ActivityScope, selection: ActivitySelection): SqlCondition | null {
  const { accountId, view } = scope;
  if (selection.query.clauses.length === 0)
    return view === 'all' ? null : { text: VISIBLE_ACTIVITIES, values: visibilityParameters(scope) };
  const computers = compileOnlyComputers(selection, { accountId, groups: groupsOf(view), firstParameter: 1 });
  return computers && { text: onComputers(computers.text), values: computers.values };
}

/** A page of activities on some computers, without reading the activities themselves. */
function pageOnComputers(
  db: Sql,
  counted: Counted,
  accountId: number,
  { text, values }: SqlCondition,
  { limit, offset }: PageRequest,
): Promise<FoundPage> {
  const from = `from found${counted === 'parents' ? ' where parent_id is null' : ''}`;
  const places = `limit $${values.length + 1} offset $${values.length + 2}`;
  return foundPage(
    db,
    accountId,
    `${text}
     select (select count(*) ${from}) as count, array(select id ${from} order by id desc ${places}) as ids`,
    [...values, limit, offset],
  );
}

/** A page whose ids and total one statement returns. */
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

/** The visible matches: the first four parameters are the scope, the values of the query follow. */
export function matching(scope: ActivityScope, selection: ActivitySelection, further = ''): SqlCondition {
  const seen = visibilityParameters(scope);
  const filter = compileActivityQuery(selection, { accountId: seen[0], groups: seen[1], firstParameter: 5 });
  return { text: `${VISIBLE}${further} and ${filter.text}`, values: [...seen, ...filter.values] };
}
