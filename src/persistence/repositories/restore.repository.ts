import type { Sql } from '../sql.ts';
import { isOpen } from '../status-sql.ts';

/** Shown as result text of what may or may not have been carried out. */
export const UNKNOWN_OUTCOME = 'The database was restored from a backup; whether this was carried out is not known.';

/** Ids given out since the backup are fewer than this. */
const ID_MARGIN = 1_000_000;

/**
 * Moves the mark up to `next`.
 *
 * @param known - the mark that the Temporal server was told last; null when it was told none
 * @returns false when the database is behind it, and the mark stays: this database is older than the server's
 */
export async function advanceMark(sql: Sql, known: number | null, next: number): Promise<boolean> {
  const rows = await sql.query('update reconciler_mark set mark = greatest(mark, $2) where mark >= $1 returning mark', [
    known ?? 0,
    next,
  ]);
  return rows.length > 0;
}

/** Sets the mark whatever it was: the database has been brought in line with what the server knows. */
export async function setMark(tx: Sql, mark: number): Promise<void> {
  await tx.query('update reconciler_mark set mark = greatest(mark, $1)', [mark]);
}

/**
 * Makes every id from now on one that was never given out: agents, workflows and clients remember those of the time
 * that was lost.
 */
export async function skipIds(tx: Sql): Promise<void> {
  await tx.query(SKIP_IDS, [ID_MARGIN]);
}

/** Takes any exchange of an agent for its next: the tokens of the time that was lost are not known here. */
export async function forgetExchangeTokens(tx: Sql): Promise<void> {
  await tx.query('update agent set token = null, request_digest = null where token is not null');
}

/**
 * Ends every operation that a computer may have been given since the backup, and withdraws its message. Those that
 * are due later stay; a result that comes after all replaces the end.
 *
 * @returns how many operations end, by account
 * @remarks As cancels in the inbox of their lanes, which settle them. Idempotent.
 */
export async function endUncertainOperations(
  tx: Sql,
  now: Date,
): Promise<Array<{ accountId: number; accountName: string; operations: number }>> {
  return tx.query<{ accountId: number; accountName: string; operations: number }>(END_UNCERTAIN, [
    now,
    UNKNOWN_OUTCOME,
  ]);
}

/** Which of these activities, and groups of lanes, are open. */
export async function openAmong(sql: Sql, ids: readonly number[]): Promise<Set<number>> {
  const rows = await sql.query<{ id: number }>(OPEN_AMONG, [ids]);
  return new Set(rows.map(({ id }) => id));
}

const SKIP_IDS = `
  select setval(c.oid::regclass, coalesce(pg_sequence_last_value(c.oid), 0) + $1::bigint)
  from pg_class c join pg_depend d on d.objid = c.oid and d.deptype = 'i'
  where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace`;

// Lanes first, in their order: whoever settles them holds their locks.
const END_UNCERTAIN = `
  with lanes as materialized (
    select id from lane where open_count > 0 order by id for update
  ), uncertain as materialized (
    select a.id, a.lane_id, a.account_id from activity a
    where a.lane_id in (select id from lanes) and a.status in ('undelivered', 'delivered') and coalesce(a.deliver_at, $1) <= $1
  ), withdrawn as (
    update agent_message m set state = 'withdrawn' from uncertain u
    where m.activity_id = u.id and m.state in ('held', 'queued', 'sent')
  ), told as (
    insert into agent_inbox (lane_id, activity_id, kind, body, at)
    select u.lane_id, u.id, 'cancel', $2, $1 from uncertain u
  ), woken as (
    select pg_notify('flotilla_outbox', '')
  )
  select ac.id as "accountId", ac.name as "accountName", count(*)::int as operations
  from woken, uncertain u join account ac on ac.id = u.account_id group by ac.id order by ac.id`;

const OPEN_AMONG = `select id from activity where id = any($1::int[]) and (open_count > 0 or ${isOpen('status')})`;
