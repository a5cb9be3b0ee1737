import { PACKAGE_OPERATION_TYPES } from '../../domain/software/package-operations.ts';
import type { Sql } from '../database/sql.ts';
import { transitionGuard } from '../database/status-sql.ts';
import type { LockedBatch } from './batches.sql.ts';
import { type Change, inBatch, SENDABLE } from './operations.sql.ts';

export interface CancelRequest {
  /** Null: everything that is open in the batch. */
  activity: number | null;
  text: string | null;
}

interface AppliedEvents {
  consumed: number;
  changes: Change[];
  cancels: CancelRequest[];
}

export interface BatchEvents {
  id: number;
  account: number;
  /** Changes with every inserted row. Not the highest id: sequence order is not commit order. */
  fingerprint: string;
  results: number;
  hasCancel: boolean;
  workflowId: string;
  size: number;
  open: number;
  ageMs: number;
}

/** Maximum number of events per call, besides cancels, to keep transactions short. */
export const EVENTS_LIMIT = 5000;

/** Applies and deletes pending events of a locked batch. @see docs/architecture.md#processing-pending-events */
// The first result wins and replaces `canceled` once; events of unknown or ended operations change nothing.
export async function applyPendingEvents(
  tx: Sql,
  { id, isLarge }: Pick<LockedBatch, 'id' | 'isLarge'>,
  now: Date,
): Promise<AppliedEvents> {
  const values = {
    batch: id,
    limit: EVENTS_LIMIT,
    now,
    lostText: 'The computer lost its identity before it answered.',
    packageTypes: PACKAGE_OPERATION_TYPES,
  };
  // The best plan for a large batch depends on how many events it has.
  const [row] = await tx.query<AppliedEvents>(APPLY, values, isLarge ? undefined : 'apply-events');
  return row!;
}

/** Batches whose oldest pending event has waited for this many seconds; 0 for all. */
export function readBatchesWithEvents(db: Sql, waitedSeconds: number): Promise<BatchEvents[]> {
  return db.query<BatchEvents>(WITH_EVENTS, { waitedSeconds }, 'batches-with-events');
}

/** Whether a batch has pending events. */
export async function hasEvents(db: Sql, batch: number): Promise<boolean> {
  return (await db.query('select from agent_inbox where lane_id = :batch limit 1', { batch }, 'has-events')).length > 0;
}

/** Adds a cancel of everything that is open in a batch. */
export async function addCancel(db: Sql, batch: number, text: string): Promise<void> {
  await db.query(`insert into agent_inbox (lane_id, kind, body) values (:batch, 'cancel', :text)`, { batch, text });
}

/** Stores results of what the server itself did for a new group or a single operation, in the creating transaction. */
export async function recordServerResult(tx: Sql, activity: number, result: { ok: boolean; text: string; at: Date }) {
  await tx.query(RECORD_RESULT, { ...result, activity });
}

/** Fails operations of a new group unsent, by index. @see docs/architecture.md#operations-that-are-never-sent */
export async function failUnsent(
  tx: Sql,
  group: number,
  operations: ReadonlyArray<{ index: number; text: string }>,
  now: Date,
): Promise<void> {
  if (operations.length === 0) return;
  await tx.query(FAIL_UNSENT, {
    group,
    indexes: operations.map(({ index }) => index),
    texts: operations.map(({ text }) => text),
    now,
  });
}

const RECORD_RESULT = `
  insert into agent_inbox (lane_id, activity_id, kind, ok, body, at)
  select lane_id, id, 'result', :ok, :text, :at from activity
  where (id = :activity or parent_id = :activity) and lane_id is not null
  order by id`;

const FAIL_UNSENT = `
  with unsent as materialized (
    select a.lane_id, a.id, s.text
    from (select id, lane_id, row_number() over (order by id) - 1 as index from activity where parent_id = :group) a
    join unnest(:indexes::int[], :texts::text[]) s(index, text) using (index)
  ), dequeued as (
    delete from agent_message m using unsent u where m.activity_id = u.id
  )
  insert into agent_inbox (lane_id, activity_id, kind, body, at)
  select lane_id, id, 'gone', text, :now from unsent`;

// Cancels overtake other events, which could otherwise release and deliver operations that the cancel covers.
const APPLY = `
  with event as (
    delete from agent_inbox
    where lane_id = :batch and (kind = 'cancel' or id <= coalesce(
      (select id from agent_inbox where lane_id = :batch order by id limit 1 offset :limit::int - 1), 9223372036854775807))
    returning id, activity_id, kind, ok, code, body, at
  ), decisive as (
    select distinct on (activity_id) activity_id, kind, ok, code, body, at,
      min(at) filter (where kind = 'delivered') over (partition by activity_id) as delivered_at
    from event where kind <> 'cancel'
    order by activity_id, case kind when 'result' then 0 when 'gone' then 1 else 2 end, id
  ), moved as (
    update activity a set
      status = case
        when e.kind = 'delivered' and o.status = 'canceled' then 'canceled'
        when e.kind = 'delivered' then 'delivered'
        when e.kind = 'result' and e.ok then 'succeeded'
        else 'failed' end,
      delivery_time = coalesce(o.delivery_time, e.delivered_at, case when e.kind = 'result' then e.at end),
      completion_time = case when e.kind = 'delivered' then o.completion_time else e.at end,
      result_code = case e.kind when 'result' then e.code else o.result_code end,
      result_text = case e.kind when 'result' then e.body when 'gone' then coalesce(e.body, :lostText) else o.result_text end,
      modification_time = :now
    from decisive e join activity o on o.id = e.activity_id and ${inBatch('o')}
    where a.id = e.activity_id and case e.kind
      when 'result' then ${transitionGuard('o.status', [...SENDABLE, 'canceled'], 'succeeded', 'failed')}
      when 'gone' then ${transitionGuard('o.status', SENDABLE, 'failed')}
      else ${transitionGuard('o.status', ['undelivered'], 'delivered')} or (o.status = 'canceled' and o.delivery_time is null) end
    returning a.id, a.type, o.status as old, a.status as new, a.completion_time, a.delivery_time
  ), changed as (
    select old as "from", new as "to", count(*)::int as count, array_agg(id) as ids,
      array_agg(id) filter (where type = any(:packageTypes::text[])) as "packageIds",
      (extract(epoch from max(completion_time)) * 1000)::float8 as "endedAt",
      (extract(epoch from min(delivery_time)) * 1000)::float8 as "deliveredAt"
    from moved group by old, new
  )
  select (select count(*)::int from event) as consumed,
    (select coalesce(jsonb_agg(to_jsonb(changed)), '[]') from changed) as changes,
    (select coalesce(jsonb_agg(jsonb_build_object('activity', activity_id, 'text', body) order by id), '[]')
      from event where kind = 'cancel') as cancels`;

// Events have the time of the process that wrote them: 0 disables the age check. Batches that were never opened are
// skipped: their first call applies all events. LIMIT, which changes nothing, has each batch found by its key: a join would
// read all batches while statistics know few.
const WITH_EVENTS = `
  select l.id, l.account_id as account, l.wf_id as "workflowId", l.size, l.open_count as open, i.fingerprint, i.results,
    i.has_cancel as "hasCancel", (extract(epoch from now() - l.created_at) * 1000)::float8 as "ageMs"
  from (
    select lane_id, sum(id)::text as fingerprint, count(*) filter (where kind in ('result', 'gone'))::int as results,
      bool_or(kind = 'cancel') as has_cancel
    from agent_inbox group by lane_id
    having :waitedSeconds::float8 = 0 or min(at) <= now() - make_interval(secs => :waitedSeconds::float8)
  ) i cross join lateral (select * from lane where id = i.lane_id limit 1) l
  where l.opened_at is not null or l.open_count = 0`;
