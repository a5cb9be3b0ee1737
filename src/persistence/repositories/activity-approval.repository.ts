import { statusesBefore } from '../../domain/activity/status.ts';
import type { Sql } from '../sql.ts';
import { movable } from '../status-sql.ts';
import { promoteBehind, queueMessages } from './agent-messages.repository.ts';
import { readBoundForHolding } from './message-backlog.repository.ts';

/**
 * Lets operations go that waited for approval: a step behind another goes on waiting for that one, the rest is queued
 * if its lane is open already.
 *
 * @param activities - groups and operations
 * @remarks Part of the caller's transaction, which holds the lanes' locks. Doing it twice changes nothing.
 * @see api-decisions 4.1
 */
export async function approveActivities(tx: Sql, activities: readonly number[], now: Date): Promise<void> {
  const approved = await tx.query<{ id: number; lane_id: number; opened: boolean; account_id: number }>(APPROVE, [
    activities,
    now,
  ]);
  await tx.query(APPROVE_GROUPS, [activities, now]);
  const lanes = Map.groupBy(
    approved.filter(({ opened }) => opened),
    ({ lane_id }) => lane_id,
  );
  const queued: number[] = [];
  for (const [lane, rows] of lanes) {
    const bounded = (await readBoundForHolding(tx, rows[0]!.account_id)) !== null;
    const operations = rows.map(({ id }) => id);
    const added = await queueMessages(tx, { lane, operations, now, bounded });
    if (bounded) queued.push(...added);
  }
  await promoteBehind(tx, queued);
}

const APPROVABLE = statusesBefore('undelivered').filter((status) => status === 'unapproved');

const APPROVE = `
  update activity a set approval_time = $2, modification_time = $2,
    status = case when exists (select from activity b where b.id = a.blocked_by and b.status <> 'succeeded')
      then 'waiting' else 'undelivered' end,
    deliver_at = greatest(a.deliver_at, $2)
  from lane l
  where (a.id = any($1::int[]) or a.parent_id = any($1::int[])) and a.computer_id is not null and l.id = a.lane_id
    and ${movable('a.status', APPROVABLE, 'undelivered', 'waiting')}
  returning a.id, a.lane_id, a.account_id, l.opened_at is not null as opened`;

const APPROVE_GROUPS = `
  update activity a set approval_time = $2, modification_time = $2, status = 'undelivered'
  where a.id = any($1::int[]) and a.computer_id is null and ${movable('a.status', APPROVABLE, 'undelivered')}`;
