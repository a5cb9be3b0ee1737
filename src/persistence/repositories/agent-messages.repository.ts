import type { Sql } from '../sql.ts';

export interface QueueRequest {
  lane: number;
  /** Operations to queue; null means every undelivered one of the lane. */
  operations: readonly number[] | null;
  now: Date;
  /** The account has a bound on messages waiting for one computer: all start held. */
  bounded: boolean;
}

/**
 * Puts the messages of undelivered operations in their computers' queues, each once. Where the account has a bound
 * they start held, and the caller promotes in the same transaction.
 *
 * @returns operations that were not there before
 * @remarks Idempotent by operation id. The caller holds the lane's row lock and, where `bounded`,
 * {@link readBoundForHolding}.
 * @see api-decisions 10; temporal-design 4
 */
export async function queueMessages(tx: Sql, request: QueueRequest): Promise<number[]> {
  const { lane, operations, now, bounded } = request;
  const values = [lane, now, bounded ? 'held' : 'queued'];
  if (operations === null) return operationsOf(await tx.query(QUEUE_LANE, values));
  return operationsOf(await tx.query(QUEUE_SOME, [...values, operations]));
}

/**
 * Takes back messages that no agent has been given; what was handed out stays as it is. The caller lets held messages
 * move up.
 *
 * @returns operations whose messages were taken back
 */
export async function withdrawMessages(tx: Sql, operations: readonly number[]): Promise<number[]> {
  return operations.length === 0 ? [] : operationsOf(await tx.query(WITHDRAW, [operations]));
}

/** As {@link withdrawMessages}, for everything of some lanes. */
export async function withdrawLaneMessages(tx: Sql, lanes: readonly number[]): Promise<number[]> {
  return lanes.length === 0 ? [] : operationsOf(await tx.query(WITHDRAW_LANES, [lanes]));
}

/**
 * Lets held messages move up at the computers of `operations`, after those left the queue or joined it.
 *
 * @param lane - a lane of which something may have become due by itself: its held messages move up too
 */
export async function promoteBehind(
  tx: Sql,
  operations: readonly number[],
  now: Date,
  lane: number | null = null,
): Promise<void> {
  if (operations.length === 0 && lane === null) return;
  const computers = await tx.query<{ computer_id: number }>(HOLDING_BEHIND, [operations, now, lane]);
  await promoteHeldMessages(
    tx,
    computers.map((row) => row.computer_id),
    now,
  );
}

/** Lets held messages move up wherever the account's bound, which has just been changed, leaves room. */
export async function promoteAccount(tx: Sql, accountId: number, now: Date): Promise<void> {
  const computers = await tx.query<{ computer_id: number }>(HOLDING_IN_ACCOUNT, [accountId]);
  await promoteHeldMessages(
    tx,
    computers.map((row) => row.computer_id),
    now,
  );
}

/**
 * Moves the oldest held messages of each computer that are due into its queue as far as its account's bound has room.
 * What is not due takes no place and stays held, unless there is no bound any more.
 *
 * @remarks Idempotent. Locks the computers, in order, for as long as the transaction lasts: two that counted the same
 * queue at once would both take the last place, or both leave it empty. The bound is read behind that lock. A
 * transaction calls this once, after it has locked all messages it will.
 */
export async function promoteHeldMessages(tx: Sql, computers: readonly number[], now: Date): Promise<void> {
  if (computers.length === 0) return;
  await tx.query('select id from computer where id = any($1::int[]) order by id for no key update', [computers]);
  await tx.query(PROMOTE, [computers, now]);
}

function operationsOf(rows: readonly Record<string, unknown>[]): number[] {
  return rows.map((row) => row['activity_id'] as number);
}

const queue = (which: string) => `
  insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at, deliver_before)
  select a.id, a.lane_id, a.computer_id, a.payload_id, $3, coalesce(a.deliver_at, $2), a.deliver_before_time
  from activity a
  where ${which} and a.status = 'undelivered'
  on conflict (activity_id) do nothing
  returning activity_id`;

const QUEUE_LANE = queue('a.lane_id = $1');
// Some of a lane are found by their ids: the statistics take a fresh lane for a row or two, and its index for a bargain.
const QUEUE_SOME = queue('a.id = any($4::int[]) and a.lane_id + 0 = $1');

const HOLDING_BEHIND = `
  select distinct m.computer_id from agent_message m
  where m.activity_id = any($1::int[]) and exists (
    select from agent_message h where h.computer_id = m.computer_id and h.state = 'held' and h.deliver_at <= $2)
  union select m.computer_id from agent_message m where m.lane_id = $3 and m.state = 'held' and m.deliver_at <= $2`;

const HOLDING_IN_ACCOUNT = `
  select distinct m.computer_id from agent_message m join computer c on c.id = m.computer_id
  where m.state = 'held' and c.account_id = $1`;

// Locked in one order everywhere (by operation), so that a cancel and an exchange cannot wait for each other.
const withdraw = (which: string) => `
  with taken as (
    select activity_id from agent_message
    where ${which} and state in ('held', 'queued')
    order by activity_id for update
  )
  update agent_message m set state = 'withdrawn'
  from taken where m.activity_id = taken.activity_id
  returning m.activity_id`;

const WITHDRAW = withdraw('activity_id = any($1::int[])');
const WITHDRAW_LANES = withdraw('lane_id = any($1::int[])');

// Messages are locked before computers everywhere, so nothing may wait for a message here: one that is locked is being
// withdrawn, and whoever does that promotes afterwards.
const PROMOTE = `
  with waiting as (
    select m.activity_id, m.computer_id, a.max_message_backlog as bound,
      row_number() over (partition by m.computer_id order by m.activity_id) as place
    from agent_message m join computer c on c.id = m.computer_id join account a on a.id = c.account_id
    where m.computer_id = any($1::int[]) and m.state = 'held'
      and (m.deliver_at <= $2 or a.max_message_backlog is null)
  ), used as (
    select computer_id, count(*) as taken
    from agent_message
    where computer_id = any($1::int[]) and state in ('queued', 'sent') and (state = 'sent' or deliver_at <= $2)
    group by computer_id
  ), chosen as (
    select activity_id from agent_message
    where state = 'held' and activity_id in (
      select w.activity_id from waiting w left join used u using (computer_id)
      where w.bound is null or coalesce(u.taken, 0) + w.place <= w.bound)
    order by activity_id for update skip locked
  )
  update agent_message m set state = 'queued'
  from chosen where m.activity_id = chosen.activity_id`;
