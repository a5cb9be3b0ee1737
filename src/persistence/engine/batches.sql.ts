import { DomainError } from '../../domain/common/errors.ts';
import type { BatchPlan, GroupProgress } from '../../domain/engine/progress.ts';
import type { ChildCounts } from '../../domain/engine/roll-up.ts';
import type { Sql } from '../database/sql.ts';
import type { Row } from '../database/row.ts';
import { isOpen } from '../database/status-sql.ts';

/** Batches take turns by account, small ones separately from large ones. */
export interface BatchTurn {
  account: number;
  isLarge: boolean;
  /** A message was fetched before the batch was opened, and nothing else has happened: a report may follow at once. */
  isReportExpected: boolean;
}

export type BatchCounters = Row<'lane', 'open_count, succeeded_count, failed_count, canceled_count, next_due_at'>;

/** `awaited`: operations of other batches wait for some of its operations. */
export type LockedBatch = Pick<BatchTurn, 'isLarge'> &
  BatchCounters &
  Row<'lane', 'id, parent_id, has_dependents, answer_seconds, after_activity_id, awaited, opened_at, usg_run_id'>;

/** A batch with more operations moves thousands of rows at a time. */
const SMALL_BATCH = 25;

/** The turn of a batch; undefined when there is no such batch. */
export async function readBatchTurn(db: Sql, batch: number): Promise<BatchTurn | undefined> {
  const [row] = await db.query<BatchTurn>(TURN, { batch }, 'batch-turn');
  return row;
}

/** Locks a batch until the transaction ends; undefined when there is no such batch. */
export async function lockBatch(tx: Sql, batch: number): Promise<LockedBatch | undefined> {
  const [row] = await tx.query<LockedBatch>(LOCK, { batch }, 'batch-lock');
  return row;
}

interface MoveCounters {
  batch: number;
  /** The group of the batch, if its counters change too. */
  group: number | null;
  difference: ChildCounts;
  now: Date;
  nextDueAt: Date | null;
  /** Of the first operation that was delivered now; null for none. */
  deliveredAt: Date | null;
}

export type MovedGroup = ChildCounts & Row<'activity', 'status'> & { isDelivered: boolean };

interface MovedCounters extends BatchCounters {
  /** Null without one, also when its row was deleted by hand. */
  group: MovedGroup | null;
}

/**
 * Moves the counters of a batch, opens it if necessary, and closes it when nothing is left open. Moves those of its group
 * too, which its first delivery starts.
 */
export async function moveCounters(tx: Sql, { difference, ...values }: MoveCounters): Promise<MovedCounters> {
  const [row] = await tx.query<MovedCounters>(MOVE_COUNTERS, { ...difference, ...values }, 'counters-move');
  return row!;
}

/** @throws {DomainError} UnknownActivity when the group's row was deleted by hand: retention keeps open groups */
export async function readGroupProgress(db: Sql, group: number): Promise<GroupProgress> {
  const [row] = await db.query<GroupProgress>(GROUP_PROGRESS, { group });
  if (!row) throw new DomainError('UnknownActivity', `there is no activity ${group}`);
  return row;
}

/** Unconditional: the caller has locked the row. */
export async function setGroupDelivered(tx: Sql, group: number): Promise<void> {
  await tx.query(`update activity set status = 'delivered' where id = :group`, { group }, 'group-delivered');
}

/** Marks a group as undelivered, or as unapproved or blocked while one of its children is. */
export async function setGroupUndelivered(tx: Sql, group: number): Promise<void> {
  await tx.query(GROUP_UNDELIVERED, { group });
}

/** @param endedAt - latest end among the changes; null for none */
export async function endGroup(tx: Sql, group: number, status: string, endedAt: Date | null): Promise<void> {
  await tx.query(END_GROUP, { group, status, endedAt }, 'group-end');
}

/** The batches of a group with open operations, in order. */
export function readOpenBatches(db: Sql, group: number): Promise<BatchPlan[]> {
  return db.query<BatchPlan>(OPEN_BATCHES, { group });
}

/** Batches of a group with open operations that have not been opened yet. */
export async function readUnopenedBatches({ em }: Sql, group: number): Promise<number[]> {
  const batches = em.getKysely().selectFrom('lane').select('id').where('parent_id', '=', group);
  const open = batches.where('open_count', '>', 0).where('opened_at', 'is', null);
  const rows = await open.orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/** Cancels opened batches of a group once. @returns whether there was any @see docs/architecture.md#cancellation */
// A cancel of the parent workflow reaches only the first run of its children.
export async function cancelOpenedBatches(tx: Sql, group: number, now: Date): Promise<boolean> {
  return (await tx.query(CANCEL_OPENED, { group, now })).length > 0;
}

export interface NamedOperation extends Row<'activity', 'id, status, deliver_at'> {
  computer_id: number;
  title: string;
  is_moved: boolean;
  open_computers: number;
}

/** The operations `moved` of a batch and the first open ones, in id order. @param openLimit - how many of these */
export function readNamedOperations(
  db: Sql,
  batch: number,
  { moved, openLimit }: { moved: readonly number[]; openLimit: number },
): Promise<NamedOperation[]> {
  return db.query<NamedOperation>(NAMED, { batch, moved, openLimit }, 'named-operations');
}

/** The first open operations of a group, in id order. */
export function readGroupOperations(db: Sql, group: number, limit: number): Promise<GroupOperationRow[]> {
  return db.query<GroupOperationRow>(GROUP_OPERATIONS, { group, limit });
}

type GroupOperationRow = Pick<NamedOperation, 'id' | 'title' | 'status' | 'deliver_at'> & { wf_id: string };

const IS_LARGE = `size > ${SMALL_BATCH} as "isLarge"`;

const TURN = `
  select account_id as account, ${IS_LARGE}, opened_at is null
    and (select bool_and(kind = 'delivered') from agent_inbox where lane_id = l.id) is true as "isReportExpected"
  from lane l where l.id = :batch`;

const LOCK = `
  select l.id, l.parent_id, l.open_count, l.succeeded_count, l.failed_count, l.canceled_count,
    l.has_dependents, l.answer_seconds, l.after_activity_id, l.awaited, l.opened_at, l.next_due_at, l.usg_run_id,
    ${IS_LARGE}
  from lane l where l.id = :batch for update`;

// The batch is locked already, so that its group is locked last. It may report an earlier delivery than another before.
const MOVE_COUNTERS = `
  with moved as (
    update lane set open_count = open_count + :open, succeeded_count = succeeded_count + :succeeded,
      failed_count = failed_count + :failed, canceled_count = canceled_count + :canceled,
      opened_at = coalesce(opened_at, :now),
      closed_at = case when open_count + :open = 0 then coalesce(closed_at, :now) end,
      next_due_at = case when open_count + :open = 0 then null else :nextDueAt::timestamptz end
    where id = :batch
    returning open_count, succeeded_count, failed_count, canceled_count, next_due_at
  ), parent as (
    update activity set open_count = open_count + :open, delivered_count = delivered_count + :delivered,
      succeeded_count = succeeded_count + :succeeded, failed_count = failed_count + :failed, canceled_count = canceled_count + :canceled,
      modification_time = :now,
      delivery_time = case when delivered_count + :delivered > 0 or :deliveredAt::timestamptz is not null
        then coalesce(least(delivery_time, :deliveredAt), :now) else delivery_time end
    where id = :group::int
    returning status, delivery_time is not null as "isDelivered", open_count as open, delivered_count as delivered,
      succeeded_count as succeeded, failed_count as failed, canceled_count as canceled
  )
  select moved.*, (select to_jsonb(parent) from parent) as "group" from moved`;

const GROUP_PROGRESS = `
  select open_count as open, succeeded_count as succeeded, failed_count as failed, canceled_count as canceled,
    case when open_count = 0 then status else 'open' end as status
  from activity where id = :group`;

const GROUP_UNDELIVERED = `
  update activity p set status = coalesce((
    select k.status from activity k where k.parent_id = p.id and k.status in ('unapproved', 'blocked')
    order by k.status desc limit 1), 'undelivered')
  where p.id = :group`;

// The children are searched once, when the last one ends; a late result can only move the end forward.
const END_GROUP = `
  update activity p set status = :status, completion_time = case when p.completion_time is null
    then (select max(c.completion_time) from activity c where c.parent_id = p.id)
    else greatest(p.completion_time, :endedAt::timestamptz) end
  where p.id = :group`;

// An unblocked operation is the first of its chain. Without dependents a batch has one operation for each computer.
const OPEN_BATCHES = `
  select l.id as batch, l.wf_id as "workflowId", l.single, l.summary, l.size,
    (select a.type from activity a where a.lane_id = l.id and a.blocked_by is null limit 1) as type,
    case when l.has_dependents then (
      select count(distinct a.computer_id)::int from activity a where a.lane_id = l.id) else l.size end as computers,
    case when l.single then (
      select jsonb_build_object('id', c.id, 'title', c.title, 'operation',
        min(a.id) filter (where ${isOpen('a.status')}))
      from activity a join computer c on c.id = a.computer_id where a.lane_id = l.id group by c.id) end as computer
  from lane l where l.parent_id = :group and l.open_count > 0 order by l.ordinal`;

const CANCEL_OPENED = `
  with canceled as (
    insert into agent_inbox (lane_id, kind, at)
    select l.id, 'cancel', :now::timestamptz from lane l
    where l.parent_id = :group and l.open_count > 0 and l.opened_at is not null and not exists (
      select from agent_inbox i where i.lane_id = l.id and i.kind = 'cancel' and i.activity_id is null)
    returning lane_id
  )
  insert into outbox (kind, key, creation_time, account_id)
  select 'cancel', l.wf_id, :now::timestamptz, l.account_id from canceled join lane l on l.id = canceled.lane_id
  returning id`;

// The batch's rows first: with an order PostgreSQL may scan the primary key of all activities.
const NAMED = `
  with open as materialized (
    select a.id, a.computer_id, a.status, a.deliver_at, false as is_moved
    from activity a where :openLimit::int > 0 and a.lane_id = :batch and ${isOpen('a.status')}
  ), named as (
    (select * from open order by id limit :openLimit::int)
    union all
    select a.id, a.computer_id, a.status, a.deliver_at, true from activity a where a.id = any(:moved::int[])
  )
  select n.*, c.title, (select count(distinct computer_id)::int from open) as open_computers
  from named n join computer c on c.id = n.computer_id order by n.id`;

const GROUP_OPERATIONS = `
  select a.id, c.title, a.status, a.deliver_at, l.wf_id
  from activity a join computer c on c.id = a.computer_id join lane l on l.id = a.lane_id
  where a.parent_id = :group and ${isOpen('a.status')} order by a.id limit :limit`;
