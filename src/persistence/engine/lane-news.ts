import { type ActivityStatus, IDLE_STATUSES, OPEN_STATUSES } from '../../domain/activities/status.ts';
import { DAY_MS } from '../../domain/common/durations.ts';
import type { Transition } from '../../domain/engine/roll-up.ts';
import { NO_ANSWER } from '../../domain/scripts/result.ts';
import { PACKAGE_OPERATION_TYPES } from '../../domain/software/package-operations.ts';
import type { Sql } from '../database/sql.ts';
import { movable } from '../database/status-sql.ts';
import { type Patience, waitedFrom } from './lane-moments.ts';

/** Status changes of one statement, with the rows they touched. */
export interface Change extends Transition {
  ids: number[];
  /** Latest end among them, ms since the epoch; null when none ended. */
  endedAt: number | null;
  /** Earliest delivery among them, ms since the epoch; null when none was delivered. */
  deliveredAt: number | null;
  /** Those among them that changed packages; null when none did. */
  packageIds?: number[] | null;
}

export interface CancelRequest {
  /** Null: everything that is open in the lane. */
  activity: number | null;
  /** Shown as the operation's result text. */
  text: string | null;
}

export interface News {
  consumed: number;
  changes: Change[];
  cancels: CancelRequest[];
}

/** Most inbox rows one call settles beside cancels, so that a transaction stays short whatever came in. */
export const NEWS_LIMIT = 5000;

/**
 * Consumes inbox rows of a lane, every cancel and the oldest of the rest, and applies them to its operations.
 *
 * @remarks The first result wins; a result replaces `canceled` once and counts as delivered too; `gone` ends what has
 * no result; duplicates, unknown operations and news for ended ones change nothing. The caller holds the lane's lock.
 * @see docs/architecture.md#processing-pending-events
 */
export async function applyNews(tx: Sql, lane: number, now: Date): Promise<News> {
  const [row] = await tx.query<{ consumed: number; changes: Change[]; cancels: CancelRequest[] }>(APPLY, [
    lane,
    NEWS_LIMIT,
    now,
    'The computer lost its identity before it answered.',
    PACKAGE_OPERATION_TYPES,
  ]);
  return row!;
}

/**
 * Cancels operations of a lane, as far as they are still open, and the steps waiting behind them; null means all of the
 * lane.
 *
 * @remarks Steps wait also behind one whose success was read just now: it was open when its cancel was accepted.
 */
export function cancelOperations(
  tx: Sql,
  lane: number,
  operations: readonly number[] | null,
  now: Date,
  text: string | null,
): Promise<Change[]> {
  if (operations === null) return changesOf(tx, CANCEL_LANE, [lane, now, text]);
  return changesOf(tx, CANCEL_SOME, [lane, now, text, operations]);
}

/** Activities of cancel requests by the text their operations get; requests for a whole lane are left out. */
export function byText(requests: readonly CancelRequest[]): Map<string | null, number[]> {
  const groups = new Map<string | null, number[]>();
  for (const { activity, text } of requests) {
    if (activity === null) continue;
    const ids = groups.get(text) ?? [];
    ids.push(activity);
    groups.set(text, ids);
  }
  return groups;
}

/** Cancels every step waiting behind `operations`, however long the chain. */
export function cancelBehind(tx: Sql, lane: number, operations: readonly number[], now: Date): Promise<Change[]> {
  return changesOf(tx, CANCEL_BEHIND, [lane, now, null, operations]);
}

/** A step that may go, at its own moment. */
export interface Released {
  id: number;
  deliver_at: Date;
}

/** Releases the steps that waited for `operations`, each due after its own delay. @returns their ids and moments */
export async function releaseDependents(
  tx: Sql,
  lane: number,
  operations: readonly number[],
  now: Date,
): Promise<Released[]> {
  return tx.query<Released & Record<string, unknown>>(RELEASE, [lane, operations, now]);
}

/** Fails operations that no computer answered in time, and those that may not be delivered any more. */
export async function expireOverdue(tx: Sql, lane: number, now: Date, patience: Patience): Promise<Change[]> {
  const { expiryDays, answerSeconds } = patience;
  const deliveredBefore = new Date(now.getTime() - expiryDays * DAY_MS);
  const unanswered = await changesOf(tx, EXPIRE_DELIVERED, [
    lane,
    now,
    `The computer did not answer within ${expiryDays} days of delivery.`,
    deliveredBefore,
  ]);
  const silent = answerSeconds === null ? [] : await changesOf(tx, EXPIRE_SILENT, [lane, now, NO_ANSWER]);
  const undelivered = await changesOf(tx, EXPIRE_UNDELIVERED, [
    lane,
    now,
    'The computer did not fetch the operation before its last moment for delivery.',
  ]);
  return [...unanswered, ...silent, ...undelivered];
}

async function changesOf(tx: Sql, text: string, values: readonly unknown[]): Promise<Change[]> {
  const rows = await tx.query<{
    from: ActivityStatus;
    to: ActivityStatus;
    count: number;
    ids: number[];
    ended_at: Date | null;
  }>(text, values);
  return rows.map(({ from, to, count, ids, ended_at }) => ({
    from,
    to,
    count,
    ids,
    endedAt: ended_at?.getTime() ?? null,
    deliveredAt: null,
  }));
}

// What a computer may have of an operation; a step that waits for another is in no queue, so no news of it is true.
const SENDABLE = ['undelivered', 'delivered'] as const satisfies readonly ActivityStatus[];

// A lane is younger than the statistics, which take it for a row or two. Wherever operations are named, they must be
// found by their own index: one round through the lane's per operation would be quadratic. The sum hides that index.
const inLane = (operation: string) => `${operation}.lane_id + 0 = $1`;

// Not prepared: a plan made while the inbox is empty would read all of it for ever. No cancel waits behind other news,
// which could release and hand out meanwhile what it covers.
const APPLY = `
  with event as (
    delete from agent_inbox
    where lane_id = $1 and (kind = 'cancel' or id <= coalesce(
      (select id from agent_inbox where lane_id = $1 order by id limit 1 offset $2::int - 1), 9223372036854775807))
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
      result_text = case e.kind when 'result' then e.body when 'gone' then coalesce(e.body, $4) else o.result_text end,
      modification_time = $3
    from decisive e join activity o on o.id = e.activity_id and ${inLane('o')}
    where a.id = e.activity_id and case e.kind
      when 'result' then ${movable('o.status', [...SENDABLE, 'canceled'], 'succeeded', 'failed')}
      when 'gone' then ${movable('o.status', SENDABLE, 'failed')}
      else ${movable('o.status', ['undelivered'], 'delivered')} or (o.status = 'canceled' and o.delivery_time is null) end
    returning a.id, a.type, o.status as old, a.status as new, a.completion_time, a.delivery_time
  ), changed as (
    select old as "from", new as "to", count(*)::int as count, array_agg(id) as ids,
      array_agg(id) filter (where type = any($5::text[])) as "packageIds",
      (extract(epoch from max(completion_time)) * 1000)::float8 as "endedAt",
      (extract(epoch from min(delivery_time)) * 1000)::float8 as "deliveredAt"
    from moved group by old, new
  )
  select (select count(*)::int from event) as consumed,
    (select coalesce(jsonb_agg(to_jsonb(changed)), '[]') from changed) as changes,
    (select coalesce(jsonb_agg(jsonb_build_object('activity', activity_id, 'text', body) order by id), '[]')
      from event where kind = 'cancel') as cancels`;

const ended = (source: string, status: 'failed' | 'canceled') => `
  , ended as (
    update activity a set status = '${status}', completion_time = $2, modification_time = $2,
      result_text = coalesce($3, a.result_text)
    from ${source} s where a.id = s.id
    returning a.id, s.old
  )
  select old as "from", '${status}' as "to", count(*)::int as count, array_agg(id) as ids, $2::timestamptz as ended_at
  from ended group by old`;

/** Steps that a failed or canceled one leaves nothing to wait for. */
const BEHIND = (operation: string) => movable(`${operation}.status`, IDLE_STATUSES, 'canceled');

const CANCELABLE = (column: string) => movable(column, OPEN_STATUSES, 'canceled');

const behind = (first: string) => `
  with recursive doomed as (
    ${first}
    union
    select d.id, d.status as old from activity d join doomed b on d.blocked_by = b.id
    where ${inLane('d')} and ${BEHIND('d')}
  ) ${ended(`(select id, old from doomed where ${CANCELABLE('old')})`, 'canceled')}`;

const CANCEL_LANE = `
  with doomed as (select id, status as old from activity where lane_id = $1 and ${CANCELABLE('status')})
  ${ended('doomed', 'canceled')}`;

const CANCEL_SOME = behind(
  `select a.id, a.status as old from activity a where a.id = any($4::int[]) and ${inLane('a')}`,
);

const CANCEL_BEHIND = behind(
  `select a.id, a.status as old from activity a
    where a.blocked_by = any($4::int[]) and ${inLane('a')} and ${BEHIND('a')}`,
);

const RELEASE = `
  update activity a set status = 'undelivered', modification_time = $3,
    deliver_at = $3::timestamptz + make_interval(secs => a.delay_seconds),
    deliver_after_time = case when a.delay_seconds > 0
      then $3::timestamptz + make_interval(secs => a.delay_seconds) else a.deliver_after_time end
  where a.blocked_by = any($2::int[]) and ${inLane('a')} and ${movable('a.status', ['waiting'], 'undelivered')}
  returning a.id, a.deliver_at`;

const EXPIRE_DELIVERED = `
  with overdue as (
    select a.id, a.status as old from activity a
    where a.lane_id = $1 and ${movable('a.status', ['delivered'], 'failed')} and ${waitedFrom('a')} <= $4
  ) ${ended('overdue', 'failed')}`;

// Before the usual time, for operations whose agents answer sooner or never.
const EXPIRE_SILENT = `
  with overdue as (
    select a.id, a.status as old from activity a join operation_payload p on p.id = a.payload_id
    where a.lane_id = $1 and ${movable('a.status', ['delivered'], 'failed')}
      and ${waitedFrom('a')} + make_interval(secs => p.answer_seconds) <= $2
  ) ${ended('overdue', 'failed')}`;

// The message's row lock decides: what an agent has been given is not taken back.
const EXPIRE_UNDELIVERED = `
  with late as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.lane_id = $1 and ${movable('a.status', ['undelivered'], 'failed')} and a.deliver_before_time <= $2
      and m.state in ('held', 'queued')
    order by m.activity_id for update of m
  ), taken as (
    update agent_message m set state = 'withdrawn' from late where m.activity_id = late.activity_id
    returning m.activity_id as id, 'undelivered' as old
  ) ${ended('taken', 'failed')}`;
