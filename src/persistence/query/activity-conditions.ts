import type { ActivityStatus } from '../../domain/activities/status.ts';
import type { ActivityCriterion, ActivityQuery } from '../../domain/query/activity-query.ts';
import type { ComputerQuery } from '../../domain/query/computer-query.ts';
import { containing } from '../database/sql.ts';
import { HELD, ONLY_LATER } from './activity-fields.ts';
import { ACCOUNT, Compilation, NOW, queryText, type SqlCondition } from './compilation.ts';
import { computersCondition, type SavedQueries } from './computer-conditions.ts';

export interface ActivitySelection {
  query: ActivityQuery;
  searches: SavedQueries;
  creators: ReadonlyMap<string, readonly number[]>;
  /** Time of the query: activities due later are scheduled. */
  now: Date;
}

/** Its values are among those of the condition. */
interface CompilationScope {
  accountId: number;
  /** Access groups that `computer:` may match; null for all of the account. */
  view: readonly number[] | null;
  [name: string]: unknown;
}

/** SQL over `a` of `activity`: true for matches. Depends on the query's shape alone, and leaves the account open. */
// Conditions that are not negated keep forms that an index supports.
export function compileActivityQuery(selection: ActivitySelection, scope: CompilationScope): SqlCondition {
  const context = contextOf(selection, scope);
  const text = queryText(
    selection.query,
    (criterion) => criterionCondition(criterion, context),
    (condition) => `(${condition}) is not true`,
  );
  return { text, values: context.compilation.values };
}

/** SQL of the ids of a query about computers only; else null. @param scope - as of {@link compileActivityQuery} */
export function compileOnlyComputers(selection: ActivitySelection, scope: CompilationScope): SqlCondition | null {
  const [factor, ...others] = selection.query.clauses.flat();
  if (!factor || others.length > 0 || factor.negated || factor.criterion.kind !== 'computer') return null;
  const context = contextOf(selection, scope);
  const text = computersText(factor.criterion.query, context);
  return { text, values: context.compilation.values };
}

type Context = ReturnType<typeof contextOf>;

function contextOf({ searches, creators, now }: ActivitySelection, scope: CompilationScope) {
  return { compilation: new Compilation({ ...scope, now }), searches, creators, view: scope.view };
}

function criterionCondition(criterion: ActivityCriterion, context: Context): string {
  const { compilation } = context;
  switch (criterion.kind) {
    case 'keyword':
      return `lower(a.summary) like lower(${compilation.value(containing(criterion.text), 'text')})`;
    case 'id':
      return `a.id = ${compilation.value(criterion.id, 'int')}`;
    case 'parent-id':
      return `a.parent_id = ${compilation.value(criterion.id, 'int')}`;
    case 'status':
      return statusCondition(criterion.status);
    case 'type':
      return `a.type = ${compilation.value(criterion.text, 'text')}`;
    case 'creator':
      // By values known at planning: few activities are found by an index, and none at once.
      return `a.creator_id = any(${compilation.value(context.creators.get(criterion.text) ?? [], 'int[]')})`;
    case 'created-after':
      return `a.creation_time >= ${compilation.value(criterion.moment, 'timestamptz')}`;
    case 'created-before':
      return `a.creation_time < ${compilation.value(criterion.moment, 'timestamptz')}`;
    case 'computer':
      return computerCondition(criterion.query, context);
  }
}

const LATER = `a.deliver_at > ${NOW} or ${ONLY_LATER}`;

/** The status as it is read, not as it is stored. See `readStatus` in src/domain/activities/reading.ts. */
function statusCondition(status: ActivityStatus): string {
  switch (status) {
    case 'scheduled':
      return `(a.status = 'scheduled' or (a.status = 'undelivered' and (${LATER})))`;
    case 'undelivered':
      return `(a.status = 'undelivered' and (${LATER}) is not true and not (${HELD}))`;
    case 'waiting':
      return `(a.status = 'waiting' or (a.status = 'undelivered' and (${LATER}) is not true and ${HELD}))`;
    default:
      return `a.status = '${status}'`;
  }
}

function computerCondition(query: ComputerQuery, context: Context): string {
  return `a.id in (
    select unnest(array[k.id, k.parent_id]) from activity k where k.computer_id in ${computersText(query, context)})`;
}

function computersText(query: ComputerQuery, { compilation, searches, view }: Context): string {
  const seen = view === null ? '' : ' and c.access_group_id = any(:view::int[])';
  return `(
      select c.id from computer c where c.account_id = ${ACCOUNT} and c.state = 'approved'${seen}
        and ${computersCondition(query, compilation, searches)})`;
}
