import { type ActivityStatus, IDLE_STATUSES, OPEN_STATUSES } from '../../domain/activities/status.ts';
import type { Transition } from '../../domain/engine/roll-up.ts';
import type { Sql } from '../database/sql.ts';
import { transitionGuard, withoutPendingIndex } from '../database/status-sql.ts';

export interface Change extends Transition {
  ids: number[];
  /** Latest end among them, ms since the epoch; null for none. */
  endedAt: number | null;
  /** Earliest delivery among them, ms since the epoch; null for none. */
  deliveredAt: number | null;
  packageIds?: number[] | null;
}

export interface Released {
  id: number;
  deliver_at: Date;
}

/** Cancels open operations of a batch (null: all) and their dependents, even those of one whose success was just read. */
export function cancelOperations(
  tx: Sql,
  batch: number,
  operations: readonly number[] | null,
  now: Date,
  text: string | null,
): Promise<Change[]> {
  if (operations === null) return changesOf(tx, CANCEL_BATCH, { batch, now, text });
  return changesOf(tx, CANCEL_SOME, { batch, now, text, operations });
}

/** Cancels all dependents of `operations`, however long the chain. */
export function cancelDependents(tx: Sql, batch: number, operations: readonly number[], now: Date): Promise<Change[]> {
  return changesOf(tx, CANCEL_DEPENDENTS, { batch, now, text: null, operations });
}

/** Releases the dependents of `operations`, each due after its own delay. */
export function releaseDependents(tx: Sql, batch: number, operations: readonly number[], now: Date) {
  return tx.query<Released>(RELEASE, { batch, operations, now });
}

/** Fails operations delivered before a time without a result. */
export function failWithoutResult(tx: Sql, batch: number, now: Date, text: string, before: Date): Promise<Change[]> {
  return changesOf(tx, FAIL_WITHOUT_RESULT, { batch, now, text, before });
}

/** Fails operations without a result within the time that their message allows. */
export function failWithoutResultInTime(tx: Sql, batch: number, now: Date, text: string): Promise<Change[]> {
  return changesOf(tx, FAIL_WITHOUT_RESULT_IN_TIME, { batch, now, text });
}

/** Fails operations not delivered before their deadline, and withdraws their messages. */
export function failUndelivered(tx: Sql, batch: number, now: Date, text: string): Promise<Change[]> {
  return changesOf(tx, FAIL_UNDELIVERED, { batch, now, text });
}

/** Times that operations of a batch wait for, in ms since the epoch; null for none. */
interface DueTimes {
  first_overdue: number | null;
  first_due: number | null;
  last_due: number | null;
  some_due: boolean | null;
  delivery_deadline: number | null;
}

/** Reads the due times of a batch. @param hasTimeLimits - some operations fail before `expirySeconds` after delivery */
export async function readDueTimes(
  tx: Sql,
  batch: number,
  { now, expirySeconds, hasTimeLimits }: { now: Date; expirySeconds: number; hasTimeLimits: boolean },
): Promise<DueTimes> {
  const values = { batch, now, expirySeconds };
  const [row] = await (hasTimeLimits
    ? tx.query<DueTimes>(DUE_TIMES_WITH_LIMITS, values, 'due-times-with-limits')
    : tx.query<DueTimes>(DUE_TIMES, values, 'due-times'));
  return row!;
}

async function changesOf(tx: Sql, text: string, values: object): Promise<Change[]> {
  const rows = await tx.query<Transition & { ids: number[]; endedAt: Date }>(text, values);
  return rows.map(({ endedAt, ...change }) => ({ ...change, endedAt: endedAt.getTime(), deliveredAt: null }));
}

export const SENDABLE = ['undelivered', 'delivered'] as const satisfies readonly ActivityStatus[];

// Statistics expect a row or two: without the sum PostgreSQL would search the batch's index for each operation.
export const inBatch = (operation: string) => `${operation}.lane_id + 0 = :batch`;

// Start of the wait for a result: delivery by the gateway's clock, or its processing by the clock that checks expiry.
const waitedFrom = (operation: string) => `greatest(${operation}.delivery_time, ${operation}.modification_time)`;

// Milliseconds with fraction: a truncated time would be earlier than the event it stands for.
const milliseconds = (moment: string) => `(extract(epoch from ${moment}) * 1000)::float8`;

const firstOverdue = (seconds: string) => `min(${waitedFrom('a')} + make_interval(secs => ${seconds}))`;

const dueTimes = (source: string, seconds: string) => `
  select ${milliseconds(`${firstOverdue(seconds)} filter (where status = 'delivered')`)} as first_overdue,
    ${milliseconds(`min(deliver_at) filter (where status = 'undelivered' and deliver_at > :now)`)} as first_due,
    ${milliseconds(`max(deliver_at) filter (where status = 'undelivered' and deliver_at > :now)`)} as last_due,
    bool_or(status = 'undelivered' and deliver_at <= :now) as some_due,
    ${milliseconds(`min(deliver_before_time) filter (where status = 'undelivered')`)} as delivery_deadline
  from ${source} where a.lane_id = :batch and status in ('undelivered', 'delivered')`;

const DUE_TIMES = dueTimes('activity a', ':expirySeconds::float8');
const DUE_TIMES_WITH_LIMITS = dueTimes(
  'activity a join operation_payload p on p.id = a.payload_id',
  'least(:expirySeconds::float8, p.answer_seconds)',
);

const ended = (source: string, status: 'failed' | 'canceled') => `
  , ended as (
    update activity a set status = '${status}', completion_time = :now, modification_time = :now,
      result_text = coalesce(:text, a.result_text)
    from ${source} s where a.id = s.id
    returning a.id, s.old
  )
  select old as "from", '${status}' as "to", count(*)::int as count, array_agg(id) as ids, :now::timestamptz as "endedAt"
  from ended group by old`;

const IS_DEPENDENT = (operation: string) => transitionGuard(`${operation}.status`, IDLE_STATUSES, 'canceled');

const IS_CANCELABLE = (column: string) => transitionGuard(column, OPEN_STATUSES, 'canceled');

const cancelWithDependents = (first: string) => `
  with recursive dependent as (
    ${first}
    union
    select d.id, d.status as old from activity d join dependent b on d.blocked_by = b.id
    where ${inBatch('d')} and ${IS_DEPENDENT('d')}
  ) ${ended(`(select id, old from dependent where ${IS_CANCELABLE('old')})`, 'canceled')}`;

const CANCEL_BATCH = `
  with open as (select id, status as old from activity where lane_id = :batch and ${IS_CANCELABLE('status')})
  ${ended('open', 'canceled')}`;

const CANCEL_SOME = cancelWithDependents(
  `select a.id, a.status as old from activity a where a.id = any(:operations::int[]) and ${inBatch('a')}`,
);

const CANCEL_DEPENDENTS = cancelWithDependents(
  `select a.id, a.status as old from activity a
    where a.blocked_by = any(:operations::int[]) and ${inBatch('a')} and ${IS_DEPENDENT('a')}`,
);

const RELEASE = `
  update activity a set status = 'undelivered', modification_time = :now,
    deliver_at = :now::timestamptz + make_interval(secs => a.delay_seconds),
    deliver_after_time = case when a.delay_seconds > 0
      then :now::timestamptz + make_interval(secs => a.delay_seconds) else a.deliver_after_time end
  where a.blocked_by = any(:operations::int[]) and ${inBatch('a')} and ${transitionGuard('a.status', ['waiting'], 'undelivered')}
  returning a.id, a.deliver_at`;

const FAIL_WITHOUT_RESULT = `
  with overdue as (
    select a.id, a.status as old from activity a
    where a.lane_id = :batch and ${transitionGuard('a.status', ['delivered'], 'failed')} and ${waitedFrom('a')} <= :before
  ) ${ended('overdue', 'failed')}`;

// Before the default expiry, for operations whose agents report sooner or never.
const FAIL_WITHOUT_RESULT_IN_TIME = `
  with overdue as (
    select a.id, a.status as old from activity a join operation_payload p on p.id = a.payload_id
    where a.lane_id = :batch and ${transitionGuard('a.status', ['delivered'], 'failed')}
      and ${waitedFrom('a')} + make_interval(secs => p.answer_seconds) <= :now
  ) ${ended('overdue', 'failed')}`;

// The message's row lock decides: sent messages are not withdrawn.
const FAIL_UNDELIVERED = `
  with late as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.lane_id = :batch and ${transitionGuard('a.status', ['undelivered'], 'failed')} and a.deliver_before_time <= :now
      and ${withoutPendingIndex("m.state in ('held', 'queued')")}
    order by m.activity_id for update of m
  ), taken as (
    update agent_message m set state = 'withdrawn' from late where m.activity_id = late.activity_id
    returning m.activity_id as id, 'undelivered' as old
  ) ${ended('taken', 'failed')}`;
