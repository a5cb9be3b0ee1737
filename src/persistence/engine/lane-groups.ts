import type { GroupProgress, LanePlan } from '../../domain/engine/progress.ts';
import { wakeRelays } from '../activities/outbox.repository.ts';
import type { Database, Sql } from '../database/sql.ts';

/** The lanes of a group that still have open operations, in order. */
export function readOpenLanes(db: Sql, activity: number): Promise<LanePlan[]> {
  return db.query<LanePlan & { [key: string]: unknown }>(OPEN_LANES, [activity]);
}

/**
 * How a group stands.
 *
 * @throws when there is no such activity: somebody deleted its row, as retention keeps groups that have not ended
 */
export async function readGroup(db: Sql, activity: number): Promise<GroupProgress> {
  const [row] = await db.query<GroupProgress & { [key: string]: unknown }>(READ_GROUP, [activity]);
  if (!row) throw new Error(`there is no activity ${activity}`);
  return row;
}

/** Lanes of a group with open operations that no step has opened yet. */
export async function readUnopenedLanes(db: Sql, activity: number): Promise<number[]> {
  const rows = await db.query<{ id: number }>(UNOPENED, [activity]);
  return rows.map(({ id }) => id);
}

/**
 * Tells the opened lanes of a group to cancel what is open, whichever run drives them: a parent's own cancel reaches
 * only the first run of its children. The inbox row is for a lane without a workflow, which is then started again.
 *
 * @remarks A lane that has a cancel waiting is told nothing more: repeating it changes nothing.
 * @see docs/architecture.md#cancellation
 */
export async function cancelOpenedLanes(db: Database, activity: number, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const told = await tx.query(CANCEL_OPENED, [activity, now]);
    if (told.length > 0) await wakeRelays(tx);
  });
}

// An operation that nothing blocks is the first of its chain; by the order of ids PostgreSQL would walk all activities.
// Without dependents a lane has one operation for each computer.
const OPEN_LANES = `
  select l.id as lane, l.wf_id as "workflowId", l.single, l.summary, l.size,
    (select a.type from activity a where a.lane_id = l.id and a.blocked_by is null limit 1) as type,
    case when l.has_dependents then (
      select count(distinct a.computer_id)::int from activity a where a.lane_id = l.id) else l.size end as computers,
    case when l.single then (
      select jsonb_build_object('id', c.id, 'title', c.title)
      from activity a join computer c on c.id = a.computer_id where a.lane_id = l.id limit 1) end as computer
  from lane l where l.parent_id = $1 and l.open_count > 0 order by l.ordinal`;

const READ_GROUP = `
  select open_count as open, succeeded_count as succeeded, failed_count as failed, canceled_count as canceled,
    case when open_count = 0 then status else 'open' end as status
  from activity where id = $1`;

const UNOPENED = `select id from lane where parent_id = $1 and open_count > 0 and opened_at is null order by id`;

const CANCEL_OPENED = `
  with told as (
    insert into agent_inbox (lane_id, kind, at)
    select l.id, 'cancel', $2::timestamptz from lane l
    where l.parent_id = $1 and l.open_count > 0 and l.opened_at is not null and not exists (
      select from agent_inbox i where i.lane_id = l.id and i.kind = 'cancel' and i.activity_id is null)
    returning lane_id
  )
  insert into outbox (kind, key, creation_time, account_id)
  select 'cancel', l.wf_id, $2::timestamptz, l.account_id from told join lane l on l.id = told.lane_id
  returning id`;
