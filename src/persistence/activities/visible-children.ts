import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { type ActivityScope, computersIn } from '../query/activity-visibility.ts';
import { groupsOf } from '../query/group-scope.ts';

/** What a parent shows of its children. */
export interface ChildCounters {
  children_count: number;
  computer_count: number;
  open_count: number;
  succeeded_count: number;
  failed_count: number;
  canceled_count: number;
  /** The only computer; null when there are several. */
  computer: { id: number; title: string } | null;
}

/**
 * Reduces the counters of parents to the children visible to the caller.
 * @returns the same rows in the same order
 * @see docs/api-conventions.md#access-groups-as-scope
 */
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
