import { DomainError } from '../../domain/common/errors.ts';
import type { GroupProgress } from '../../domain/engine/progress.ts';
import type { ChildCounts } from '../../domain/engine/roll-up.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';

/** @throws {DomainError} UnknownActivity when the group's row was deleted by hand: retention keeps open groups */
export async function readGroupProgress(db: Sql, group: number): Promise<GroupProgress> {
  const [row] = await db.query<GroupProgress>(READ_PROGRESS, { group });
  if (!row) throw new DomainError('UnknownActivity', `there is no activity ${group}`);
  return row;
}

type MovedGroup = ChildCounts & Row<'activity', 'status, delivery_time'>;

/** Moves the counters of a group; the first delivery starts it (null: none). @returns undefined when it was deleted */
export async function moveGroupCounters(
  tx: Sql,
  group: number,
  difference: ChildCounts,
  { now, deliveredAt }: { now: Date; deliveredAt: Date | null },
): Promise<MovedGroup | undefined> {
  const values = { ...difference, group, now, deliveredAt };
  const [row] = await tx.query<MovedGroup>(MOVE_COUNTERS, values, 'group-move');
  return row;
}

/** Unconditional: the caller has locked the row. */
export async function setGroupDelivered(tx: Sql, group: number): Promise<void> {
  await tx.query(`update activity set status = 'delivered' where id = :group`, { group }, 'group-delivered');
}

/** Marks a group as undelivered, or as unapproved or blocked while one of its children is. */
export async function setGroupUndelivered(tx: Sql, group: number): Promise<void> {
  await tx.query(SET_UNDELIVERED, { group });
}

/** @param endedAt - latest end among the changes; null for none */
export async function endGroup(tx: Sql, group: number, status: string, endedAt: Date | null): Promise<void> {
  await tx.query(END, { group, status, endedAt }, 'group-end');
}

const READ_PROGRESS = `
  select open_count as open, succeeded_count as succeeded, failed_count as failed, canceled_count as canceled,
    case when open_count = 0 then status else 'open' end as status
  from activity where id = :group`;

// A batch may report an earlier delivery than another one before.
const MOVE_COUNTERS = `
  update activity set open_count = open_count + :open, delivered_count = delivered_count + :delivered,
    succeeded_count = succeeded_count + :succeeded, failed_count = failed_count + :failed, canceled_count = canceled_count + :canceled,
    modification_time = :now,
    delivery_time = case when delivered_count + :delivered > 0 or :deliveredAt::timestamptz is not null
      then coalesce(least(delivery_time, :deliveredAt), :now) else delivery_time end
  where id = :group
  returning status, delivery_time, open_count as open, delivered_count as delivered, succeeded_count as succeeded,
    failed_count as failed, canceled_count as canceled`;

const SET_UNDELIVERED = `
  update activity p set status = coalesce((
    select k.status from activity k where k.parent_id = p.id and k.status in ('unapproved', 'blocked')
    order by k.status desc limit 1), 'undelivered')
  where p.id = :group`;

// The children are searched once, when the last one ends; a late result can only move the end forward.
const END = `
  update activity p set status = :status, completion_time = case when p.completion_time is null
    then (select max(c.completion_time) from activity c where c.parent_id = p.id)
    else greatest(p.completion_time, :endedAt::timestamptz) end
  where p.id = :group`;
