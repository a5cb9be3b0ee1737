import { type ChildCounts, rollUp } from '../../domain/engine/roll-up.ts';
import type { Sql } from '../database/sql.ts';
import type { Change } from './lane-news.ts';

/**
 * Moves the counters of a parent by what its children's have changed, and its status with them: the first delivery of a
 * child begins it, the last end of one ends it.
 *
 * @param difference - of the counters, by the changes
 * @param changes - of its children, now
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
  const [row] = await tx.query<ChildCounts & { status: string; delivery_time: Date | null }>(
    MOVE_PARENT,
    [parent, open, delivered, succeeded, failed, canceled, now, deliveredAt],
    'parent-move',
  );
  if (!row) return;
  const status = rollUp(row, row.delivery_time !== null);
  if (row.open === 0) await tx.query(END_PARENT, [parent, status, endedAt]);
  else if (status !== row.status) await tx.query(status === 'delivered' ? BEGIN_PARENT : RELEASE_PARENT, [parent]);
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
  returning status, delivery_time, open_count as open, delivered_count as delivered, succeeded_count as succeeded,
    failed_count as failed, canceled_count as canceled`;

const BEGIN_PARENT = `update activity set status = 'delivered' where id = $1`;

// It waits as long as one of its children waits for a person, whichever other ends.
const RELEASE_PARENT = `
  update activity p set status = coalesce((
    select k.status from activity k where k.parent_id = p.id and k.status in ('unapproved', 'blocked')
    order by k.status desc limit 1), 'undelivered')
  where p.id = $1`;

// The children are searched once, when the last one ends; a late result can only move the end forward.
const END_PARENT = `
  update activity p set status = $2, completion_time = case when p.completion_time is null
    then (select max(c.completion_time) from activity c where c.parent_id = p.id)
    else greatest(p.completion_time, $3::timestamptz) end
  where p.id = $1`;
