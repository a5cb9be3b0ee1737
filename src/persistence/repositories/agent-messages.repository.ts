import type { Sql } from '../sql.ts';

export interface QueueRequest {
  lane: number;
  /** Operations to queue; null means every undelivered one of the lane. */
  operations: readonly number[] | null;
  now: Date;
  /** Bound on messages waiting for one computer; null for none, 0 holds all. */
  maxBacklog: number | null;
}

/**
 * Queues the messages of undelivered operations, each once; above the account's bound they are held.
 *
 * @remarks Idempotent by operation id. The caller holds the lane's row lock.
 * @see api-decisions 10; temporal-design 4
 */
export async function queueMessages(tx: Sql, request: QueueRequest): Promise<void> {
  const { lane, operations, now, maxBacklog } = request;
  const state = maxBacklog === null ? 'queued' : 'held';
  const queued = await tx.query<{ activity_id: number }>(QUEUE, [lane, operations, now, state]);
  await promoteBehind(
    tx,
    queued.map((row) => row.activity_id),
    maxBacklog,
  );
}

/** Takes back messages that no agent has been given, and lets held ones move up; what was handed out stays as it is. */
export async function withdrawMessages(
  tx: Sql,
  operations: readonly number[],
  maxBacklog: number | null,
): Promise<void> {
  if (operations.length === 0) return;
  await tx.query(WITHDRAW, [operations]);
  await promoteBehind(tx, operations, maxBacklog);
}

/** As {@link withdrawMessages}, for everything of some lanes. */
export async function withdrawLaneMessages(
  tx: Sql,
  lanes: readonly number[],
  maxBacklog: number | null,
): Promise<void> {
  if (lanes.length === 0) return;
  const taken = await tx.query<{ activity_id: number }>(WITHDRAW_LANES, [lanes]);
  await promoteBehind(
    tx,
    taken.map((row) => row.activity_id),
    maxBacklog,
  );
}

/** Lets held messages move up at the computers of `operations`, after those left the queue or joined it. */
export async function promoteBehind(tx: Sql, operations: readonly number[], maxBacklog: number | null): Promise<void> {
  if (operations.length === 0 || maxBacklog === null) return;
  const computers = await tx.query<{ computer_id: number }>(COMPUTERS, [operations]);
  await promoteHeldMessages(
    tx,
    computers.map((row) => row.computer_id),
    maxBacklog,
  );
}

/**
 * Moves the oldest held messages of each computer into its queue as far as the bound has room; null moves all.
 *
 * @remarks Idempotent. Locks the computers, in order, for as long as the transaction lasts: two that counted the same
 * queue at once would both take the last place, or both leave it empty.
 */
export async function promoteHeldMessages(
  tx: Sql,
  computers: readonly number[],
  maxBacklog: number | null,
): Promise<void> {
  if (computers.length === 0 || maxBacklog === 0) return;
  await tx.query('select id from computer where id = any($1::int[]) order by id for no key update', [computers]);
  await tx.query(PROMOTE, [computers, maxBacklog]);
}

const QUEUE = `
  insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at, deliver_before)
  select a.id, a.lane_id, a.computer_id, a.payload_id, $4, coalesce(a.deliver_at, $3), a.deliver_before_time
  from activity a
  where a.lane_id = $1 and a.status = 'undelivered' and ($2::int[] is null or a.id = any($2))
  on conflict (activity_id) do nothing
  returning activity_id`;

const COMPUTERS = `select distinct computer_id from agent_message where activity_id = any($1::int[])`;

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
    select activity_id, computer_id, row_number() over (partition by computer_id order by activity_id) as place
    from agent_message
    where computer_id = any($1::int[]) and state = 'held'
  ), used as (
    select computer_id, count(*) as taken
    from agent_message
    where computer_id = any($1::int[]) and state in ('queued', 'sent')
    group by computer_id
  ), chosen as (
    select activity_id from agent_message
    where state = 'held' and activity_id in (
      select w.activity_id from waiting w left join used u using (computer_id)
      where $2::int is null or coalesce(u.taken, 0) + w.place <= $2)
    order by activity_id for update skip locked
  )
  update agent_message m set state = 'queued'
  from chosen where m.activity_id = chosen.activity_id`;
