import { statusesBefore } from '../../domain/activities/status.ts';
import { queueMessages } from '../activities/agent-messages.repository.ts';
import type { Sql } from '../database/sql.ts';
import { movable } from '../database/status-sql.ts';
import { wakeWaiting } from './prior-activities.repository.ts';

/**
 * Lets operations go that waited for approval: a step behind another goes on waiting for that one, the rest is queued
 * if its lane is open already. Operations whose cancel was ordered are left out. A group waits for approval as long as
 * one of its operations does.
 *
 * @param activities - groups and operations
 * @remarks Part of the caller's transaction, which holds the lanes' locks. Doing it twice changes nothing.
 * @see docs/api-conventions.md#activity-statuses
 */
export async function approveActivities(tx: Sql, activities: readonly number[], now: Date): Promise<void> {
  const approved = await tx.query<{ id: number; lane_id: number; opened: boolean; after: number | null }>(APPROVE, [
    activities,
    now,
  ]);
  const lanes = Map.groupBy(
    approved.filter(({ opened }) => opened),
    ({ lane_id }) => lane_id,
  );
  for (const [lane, rows] of lanes) {
    await queueMessages(tx, { lane, operations: rows.map(({ id }) => id), now });
  }
  const awaited = new Set(approved.flatMap(({ after }) => after ?? []));
  if (awaited.size > 0) await wakeWaiting(tx, [...awaited], now);
  // Locked before it is looked whether anything is left: of two that approve the last operations one sees the other's.
  const groups = await tx.query<{ id: number }>(LOCK_GROUPS, [activities]);
  await tx.query(APPROVE_GROUPS, [groups.map(({ id }) => id), now]);
}

/**
 * Those of some groups and operations whose cancel was ordered and has not been carried out yet.
 *
 * @remarks Read in the transaction that holds the lanes' locks.
 */
export async function readCancelOrdered(tx: Sql, activities: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(CANCEL_ORDERED, [activities]);
  return rows.map(({ id }) => id);
}

const APPROVABLE = statusesBefore('undelivered').filter((status) => status === 'unapproved');

/** Whether the cancel of activity `a`, or of all that is in one of these lanes, was ordered. */
const cancelOrderedIn = (lanes: string) => `exists (
    select from agent_inbox i
    where i.kind = 'cancel' and i.lane_id ${lanes} and (i.activity_id is null or i.activity_id = a.id))`;

const APPROVE = `
  update activity a set approval_time = $2, modification_time = $2,
    status = case when a.after_activity_id is not null
        or exists (select from activity b where b.id = a.blocked_by and b.status <> 'succeeded')
      then 'waiting' else 'undelivered' end,
    deliver_at = greatest(a.deliver_at, $2)
  from lane l
  where (a.id = any($1::int[]) or a.parent_id = any($1::int[])) and a.computer_id is not null and l.id = a.lane_id
    and ${movable('a.status', APPROVABLE, 'undelivered', 'waiting')}
    and not ${cancelOrderedIn('= a.lane_id')}
  returning a.id, a.lane_id, l.opened_at is not null as opened, a.after_activity_id as after`;

const LOCK_GROUPS = `
  select g.id from activity g
  where g.computer_id is null and ${movable('g.status', APPROVABLE, 'undelivered')}
    and (g.id = any($1::int[]) or g.id in (select parent_id from activity where id = any($1::int[])))
  order by g.id for no key update`;

const APPROVE_GROUPS = `
  update activity g set approval_time = $2, modification_time = $2, status = 'undelivered'
  where g.id = any($1::int[]) and not exists (
    select from activity a where a.parent_id = g.id and a.status = 'unapproved')`;

const CANCEL_ORDERED = `
  select a.id from activity a
  where a.id = any($1::int[])
    and ${cancelOrderedIn('in (select a.lane_id union all select id from lane where parent_id = a.id)')}`;
