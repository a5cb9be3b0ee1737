import type { IntervalsState } from '../../domain/agents/intervals.ts';
import { lockExclusive } from '../database/advisory-locks.ts';
import type { Database, Sql } from '../database/sql.ts';
import { hasPendingEvent } from '../database/status-sql.ts';
import { arraysOf, unnest } from './per-computer.ts';

/** Gives a computer one of `max` slots, or finds the one it has. Null when all are taken. */
export async function claimFastSlot(db: Database, computerId: number, max: number, now: Date): Promise<Date | null> {
  // Without the lock first: in a large group most computers find all slots taken.
  if (!(await hasFreeSlot(db, max))) return null;
  return db.transaction(async (tx) => {
    await lockExclusive(tx, 'fastAgents', 0);
    if (!(await hasFreeSlot(tx, max))) return null;
    const [row] = await tx.query<{ at: Date }>(CLAIM, { computerId, now }, 'gateway-claim-fast');
    return row?.at ?? null;
  });
}

async function hasFreeSlot(sql: Sql, max: number): Promise<boolean> {
  const statement = 'select count(*) < :max as free from agent where fast_at is not null';
  return (await sql.query<{ free: boolean }>(statement, { max }, 'gateway-fast-slots'))[0]!.free;
}

/** Open operations of a computer that are due, or follow in a chain once another one of these has succeeded. */
export async function readOpenWork(sql: Sql, computerId: number, now: Date): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(openWork(':computerId'), { computerId, now }, 'gateway-open-work');
  return rows.map(({ id }) => id);
}

/** Saves what computers are sent, in the transaction of their exchanges. */
export async function saveIntervals(
  tx: Sql,
  states: ReadonlyArray<IntervalsState & { computerId: number }>,
): Promise<void> {
  const rows = states.map((state) => ({ ...state, intervals: JSON.stringify(state.intervals) }));
  await tx.query(SAVE, arraysOf('g', STATE, rows), 'gateway-save-intervals');
}

/** Takes back the slots of computers whose work has ended, so that they get their normal intervals. Idempotent. */
export async function releaseFastAgents(sql: Sql, now: Date): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(RELEASE, { now });
  return rows.map(({ id }) => id);
}

const STATE = { computerId: 'int', intervals: 'jsonb', pollsFast: 'bool', fastAt: 'timestamptz' };

const SAVE = `
  update agent a set intervals = g.intervals, polls_fast = g.polls_fast, fast_at = g.fast_at
  from ${unnest('g', STATE)} where a.computer_id = g.computer_id`;

const CLAIM = `
  update agent set fast_at = coalesce(fast_at, :now) where computer_id = :computerId returning fast_at as at`;

/** Work of an absent computer, or without a result, does not keep a slot for longer. */
const isRecent = (time: string) => `${time} > :now::timestamptz - interval '1 hour'`;

const isOpen = (operation: string) => `case ${operation}.status
    when 'undelivered' then coalesce(${operation}.deliver_at <= :now and ${isRecent(`${operation}.deliver_at`)}, true)
    when 'delivered' then ${isRecent(`${operation}.delivery_time`)} else false end`;

const openWork = (computer: string) => `
  select a.id from activity a
  where a.computer_id = ${computer}
    and (${isOpen('a')} or (a.status = 'waiting' and a.delay_seconds = 0
      and exists (select from activity b where b.id = a.blocked_by and ${isOpen('b')})))
    and not ${hasPendingEvent('a.id', 'result', 'gone', 'cancel')}`;

// The version makes an exchange that has read the slot start over. Rows that an exchange has locked wait for the next run.
const RELEASE = `
  update agent set fast_at = null, version = version + 1
  where computer_id in (
    select s.computer_id from agent s
    where s.fast_at < :now::timestamptz - interval '1 minute' and not exists (${openWork('s.computer_id')})
    for update skip locked)
  returning computer_id as id`;
