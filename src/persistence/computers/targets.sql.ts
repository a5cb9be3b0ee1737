import { lockExclusive, lockShared } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';
import { type GroupScope, groupsOf } from '../query/group-scope.ts';

/** Prevents archiving and removal of computers until commit. Shared. Take it before any row lock (deadlocks). */
export async function lockFleetShared(tx: Sql, ...accountIds: number[]): Promise<void> {
  await lockShared(tx, 'fleet', ...accountIds);
}

/** Excludes all holders of {@link lockFleetShared} until the transaction ends. */
export async function lockFleetExclusive(tx: Sql, accountId: number): Promise<void> {
  await lockExclusive(tx, 'fleet', accountId);
}

interface TargetProblems {
  /** Missing, pending, invisible or of another account. */
  unknown: number[];
  forbidden: number[];
  archived: number[];
}

export const MAX_NAMED = 100;

/** So many are found by key. */
const FEW = 25;

/** Checks the computers of a request, in one statement. @param most - limit of each list, by id; null for none */
export async function checkTargets(
  db: Sql,
  accountId: number,
  computers: readonly number[],
  scope: { view: GroupScope; act: GroupScope },
  most: number | null = MAX_NAMED,
): Promise<TargetProblems> {
  const values = { accountId, computers, view: groupsOf(scope.view), act: groupsOf(scope.act), most };
  const [row] = await (computers.length <= FEW
    ? db.query<TargetProblems>(CHECK_FEW, values, 'check-few-targets')
    : db.query<TargetProblems>(CHECK, values));
  return row!;
}

const check = (ids: string) => `
  with target as (
    select t.id, c.id is null or not (:view::int[] is null or c.access_group_id = any(:view)) as unknown,
      not (:act::int[] is null or c.access_group_id = any(:act)) as forbidden, c.archived
    from ${ids} as t(id)
    left join computer c on c.id = t.id and c.account_id = :accountId and c.state = 'approved'
  ), problem as (
    select id, case when unknown then 'unknown' when forbidden then 'forbidden' else 'archived' end as kind
    from target where unknown or forbidden or archived
  )
  select
    array(select id from problem where kind = 'unknown' order by id limit :most) as unknown,
    array(select id from problem where kind = 'forbidden' order by id limit :most) as forbidden,
    array(select id from problem where kind = 'archived' order by id limit :most) as archived`;

const CHECK = check('unnest(:computers::int[])');
// PostgreSQL keeps a plan only where it cannot see how many ids there are.
const CHECK_FEW = check('unnest(array(select unnest(:computers::int[])))');
