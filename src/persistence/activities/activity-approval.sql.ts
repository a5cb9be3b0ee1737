import type { Sql } from '../database/sql.ts';
import { transitionGuard } from '../database/status-sql.ts';

interface ApprovedOperation {
  id: number;
  lane_id: number;
  opened: boolean;
  after: number | null;
}

/** Approves operations without an accepted cancel; dependents keep waiting. Idempotent. The caller locks batches. */
export function approveOperations(tx: Sql, activities: readonly number[], now: Date): Promise<ApprovedOperation[]> {
  return tx.query<ApprovedOperation>(APPROVE, { activities, now });
}

/** Approves groups, also those of the given operations, that have no unapproved operation left. */
export async function approveGroups(tx: Sql, activities: readonly number[], now: Date): Promise<void> {
  // Locked before the check: of two concurrent approvals of the last operations, one sees the other's changes.
  const groups = await tx.query<{ id: number }>(LOCK_GROUPS, { activities });
  await tx.query(APPROVE_GROUPS, { ids: groups.map(({ id }) => id), now });
}

/** Groups and operations among the given ones whose accepted cancel is pending. The caller locks their batches. */
export async function readCancelRequested(tx: Sql, activities: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(CANCEL_REQUESTED, { activities });
  return rows.map(({ id }) => id);
}

const cancelRequestedIn = (batches: string) => `exists (
    select from agent_inbox i
    where i.kind = 'cancel' and i.lane_id ${batches} and (i.activity_id is null or i.activity_id = a.id))`;

const APPROVE = `
  update activity a set approval_time = :now, modification_time = :now,
    status = case when a.after_activity_id is not null
        or exists (select from activity b where b.id = a.blocked_by and b.status <> 'succeeded')
      then 'waiting' else 'undelivered' end,
    deliver_at = greatest(a.deliver_at, :now)
  from lane l
  where (a.id = any(:activities::int[]) or a.parent_id = any(:activities::int[])) and a.computer_id is not null and l.id = a.lane_id
    and ${transitionGuard('a.status', ['unapproved'], 'undelivered', 'waiting')}
    and not ${cancelRequestedIn('= a.lane_id')}
  returning a.id, a.lane_id, l.opened_at is not null as opened, a.after_activity_id as after`;

const LOCK_GROUPS = `
  select g.id from activity g
  where g.computer_id is null and ${transitionGuard('g.status', ['unapproved'], 'undelivered')}
    and (g.id = any(:activities::int[]) or g.id in (select parent_id from activity where id = any(:activities::int[])))
  order by g.id for no key update`;

const APPROVE_GROUPS = `
  update activity g set approval_time = :now, modification_time = :now, status = 'undelivered'
  where g.id = any(:ids::int[]) and not exists (
    select from activity a where a.parent_id = g.id and a.status = 'unapproved')`;

const CANCEL_REQUESTED = `
  select a.id from activity a
  where a.id = any(:activities::int[])
    and ${cancelRequestedIn('in (select a.lane_id union all select id from lane where parent_id = a.id)')}`;
