import { type ChildCounts, rollUp } from '../../domain/activity/roll-up.ts';
import type { Sql } from '../sql.ts';
import type { Change } from './lane-news.ts';

/**
 * Moves the counters of a parent by what its children's have changed, and its status with them; the last end of a child
 * ends it.
 *
 * @param difference - of the counters, by the changes
 * @param changes - of its children, now
 * @see api-decisions 4.2
 */
export async function moveParent(
  tx: Sql,
  parent: number,
  difference: ChildCounts,
  changes: readonly Change[],
  now: Date,
): Promise<void> {
  const ends = changes.flatMap(({ endedAt }) => endedAt ?? []);
  const endedAt = ends.length > 0 ? new Date(Math.max(...ends)) : null;
  const deliveredAt = earliest(changes.flatMap((change) => change.deliveredAt ?? []));
  const { open, delivered, succeeded, failed, canceled } = difference;
  const [row] = await tx.query<ChildCounts & { status: string }>(
    MOVE_PARENT,
    [parent, open, delivered, succeeded, failed, canceled, now, deliveredAt],
    'parent-move',
  );
  if (!row) return;
  const status = rollUp(row);
  if (row.open === 0) await tx.query(END_PARENT, [parent, status, endedAt]);
  else if (status !== row.status) {
    await tx.query(SET_PARENT_STATUS, [parent, status, earliest(ends) ?? now], 'parent-status');
  }
}

function earliest(moments: readonly number[]): Date | null {
  return moments.length > 0 ? new Date(Math.min(...moments)) : null;
}

// News of a lane can be older than what another one told before.
const MOVE_PARENT = `
  update activity set open_count = open_count + $2, delivered_count = delivered_count + $3,
    succeeded_count = succeeded_count + $4, failed_count = failed_count + $5, canceled_count = canceled_count + $6,
    modification_time = $7,
    delivery_time = case when delivered_count + $3 > 0 or $8::timestamptz is not null
      then coalesce(least(delivery_time, $8), $7) else delivery_time end
  where id = $1
  returning status, open_count as open, delivered_count as delivered, succeeded_count as succeeded,
    failed_count as failed, canceled_count as canceled`;

// What has an end before anything of it was delivered reads `delivered` too.
const SET_PARENT_STATUS = `
  update activity set status = $2,
    delivery_time = case when $2 = 'delivered' then coalesce(delivery_time, $3::timestamptz) else delivery_time end
  where id = $1`;

// The children are searched once, when the last one ends; a late result can only move the end forward.
const END_PARENT = `
  update activity p set status = $2, completion_time = case when p.completion_time is null
    then (select max(c.completion_time) from activity c where c.parent_id = p.id)
    else greatest(p.completion_time, $3::timestamptz) end
  where p.id = $1`;
