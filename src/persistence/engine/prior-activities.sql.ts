import { RESULTS_CHANNEL } from '../activities/outbox.sql.ts';
import type { Sql } from '../database/sql.ts';
import { transitionGuard, statusList } from '../database/status-sql.ts';
import type { Released } from './operations.sql.ts';

/** Locks an activity's batches; they wake others from now on. Idempotent. @returns `computers` where it does nothing */
export async function awaitActivity(tx: Sql, accountId: number, activity: number, computers: readonly number[]) {
  await tx.query(MARK_AWAITED, { accountId, activity });
  const rows = await tx.query<{ computer_id: number }>(WITHOUT, { activity, computers });
  return rows.map(({ computer_id }) => computer_id);
}

/** Operations of a batch whose wait for an activity is over: it is done on their computers, or never will be. */
export function readDecided(tx: Sql, batch: number, activity: number): Promise<Array<{ id: number; done: boolean }>> {
  return tx.query<{ id: number; done: boolean }>(DECIDED, { batch, activity });
}

/** Releases operations after the activity they waited for succeeded on their computers. */
export function releaseWaiting(tx: Sql, operations: readonly number[], now: Date): Promise<Released[]> {
  return tx.query<Released>(RELEASE, { operations, now });
}

/** Wakes the batches that wait for activities with ended operations. */
export async function wakeWaiting(tx: Sql, activities: readonly number[], now: Date): Promise<void> {
  await tx.query(WAKE, { activities, now });
}

const MARK_AWAITED = `
  with awaited as (
    select id from lane
    where account_id = :accountId and id in (
      select lane_id from activity where id = :activity and account_id = :accountId
      union all select l.id from lane l where l.parent_id = :activity)
    order by id for update
  )
  update lane l set awaited = true from awaited a where l.id = a.id and not l.awaited`;

const OF_ACTIVITY = 'k.computer_id is not null and (k.id = :activity or k.parent_id = :activity)';

const WITHOUT = `
  select c.computer_id from unnest(:computers::int[]) as c(computer_id)
  where not exists (
    select from activity k where k.computer_id = c.computer_id and (k.id = :activity or k.parent_id = :activity))
  order by 1`;

// Nothing of a deleted activity can succeed any more.
const DECIDED = `
  with prior as materialized (
    select k.computer_id, bool_and(k.status = 'succeeded') as done,
      bool_or(k.status in ${statusList(['failed', 'canceled'])}) as lost
    from activity k where ${OF_ACTIVITY} group by k.computer_id
  )
  select a.id, coalesce(p.done, false) as done
  from activity a left join prior p using (computer_id)
  where a.lane_id = :batch and a.after_activity_id = :activity and a.status = 'waiting'
    and (p.done or p.lost or p.computer_id is null)`;

const RELEASE = `
  update activity a set status = 'undelivered', modification_time = :now, deliver_at = greatest(a.deliver_at, :now)
  where a.id = any(:operations::int[]) and ${transitionGuard('a.status', ['waiting'], 'undelivered')}
  returning a.id, a.deliver_at`;

// An event without an operation only makes the batch check. Written even if one is pending: a batch that is applying it
// may have checked before this transaction ends.
const WAKE = `
  insert into agent_inbox (lane_id, kind, at)
  select l.id, 'delivered', :now::timestamptz from lane l
  where l.after_activity_id = any(:activities::int[]) and l.closed_at is null
  returning pg_notify('${RESULTS_CHANNEL}', '')`;
