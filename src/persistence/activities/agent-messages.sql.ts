import type { Sql } from '../database/sql.ts';

/** Queues the messages of undelivered operations (null: all of the batch), each once. The caller locks the batch. */
export async function queueMessages(
  tx: Sql,
  { batch, operations, now }: { batch: number; operations: readonly number[] | null; now: Date },
): Promise<void> {
  if (operations === null) await tx.query(QUEUE_BATCH, { batch, now }, 'queue-batch');
  else if (operations.length > 0) await tx.query(QUEUE_SOME, { batch, now, operations });
}

/** Withdraws messages that no agent has received; sent ones stay. */
export async function withdrawMessages(tx: Sql, operations: readonly number[]): Promise<void> {
  if (operations.length > 0) await tx.query(WITHDRAW, { operations });
}

/** As {@link withdrawMessages}, for everything of some batches. */
export async function withdrawBatchMessages(tx: Sql, batches: readonly number[]): Promise<void> {
  if (batches.length > 0) await tx.query(WITHDRAW_BATCHES, { batches });
}

const queue = (which: string) => `
  insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at, deliver_before)
  select a.id, a.lane_id, a.computer_id, a.payload_id, 'queued', coalesce(a.deliver_at, :now), a.deliver_before_time
  from activity a
  where ${which} and a.status = 'undelivered'
  on conflict (activity_id) do nothing`;

const QUEUE_BATCH = queue('a.lane_id = :batch');
// Named operations of a batch are found by id: statistics expect one or two rows in a new batch, and prefer its index.
const QUEUE_SOME = queue('a.id = any(:operations::int[]) and a.lane_id + 0 = :batch');

// Always locked in order of operations, so that a cancel and an exchange cannot deadlock.
const withdraw = (which: string) => `
  with taken as (
    select activity_id from agent_message
    where ${which} and state in ('held', 'queued')
    order by activity_id for update
  )
  update agent_message m set state = 'withdrawn'
  from taken where m.activity_id = taken.activity_id`;

const WITHDRAW = withdraw('activity_id = any(:operations::int[])');
const WITHDRAW_BATCHES = withdraw('lane_id = any(:batches::int[])');
