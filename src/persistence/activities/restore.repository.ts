import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { OUTBOX_CHANNEL } from './outbox.repository.ts';

/** Shown as result text of what may or may not have been carried out. */
export const UNKNOWN_OUTCOME = 'The database was restored from a backup; whether this was carried out is not known.';

/** Ids of one kind that may have been given out since the backup: so many at once, and so many a second all the time. */
const ID_MARGIN = 1_000_000;
const IDS_PER_SECOND = 100;

/**
 * Moves the mark up to `next`.
 * @param known - the mark that the Temporal server knows; 0 for none
 * @returns the mark as it was; null when the database is behind `known`, and the mark stays: this database is older than
 * the server's
 */
export async function advanceMark(sql: Sql, known: number, next: number): Promise<number | null> {
  const [row] = await sql.query<{ before: number }>(ADVANCE, [known, next]);
  return row?.before ?? null;
}

const ADVANCE = `
  update reconciler_mark m set mark = greatest(m.mark, $2)
  from (select mark from reconciler_mark for update) b where b.mark >= $1
  returning b.mark::float8 as before`;

/** Sets the mark whatever it was: the database has been brought in line with what the server knows. */
export async function setMark(tx: Sql, mark: number): Promise<void> {
  await tx.query('update reconciler_mark set mark = greatest(mark, $1)', [mark]);
}

/**
 * Makes every id from now on one that was never given out: agents, workflows and clients remember those of the time
 * that was lost, and of one that was restored before. The longer ago the backup was made, the further ids move, though
 * never over more than a quarter of those that are left, and a repair that is begun again does not move them so far again.
 * @param activity - the highest id of an activity that the Temporal server knows; 0 when it knows none
 */
export async function skipIds(tx: Sql, now: Date, activity: number): Promise<void> {
  await tx.query(SKIP_IDS, [ID_MARGIN, IDS_PER_SECOND, now, activity]);
  await tx.query(REMEMBER_SKIP, [now]);
}

/** Takes any exchange of an agent for its next: the tokens of the time that was lost are not known here. */
export async function resetExchangeTokens(tx: Sql): Promise<void> {
  await tx.query('update agent set token = null, request_digest = null where token is not null');
}

/**
 * Ends every operation that a computer may have been given since the backup. Its message counts as given: it is never
 * handed out again, and a result that comes after all replaces the end. Operations that are due later stay.
 * @returns how many operations end, by account
 * @remarks By cancels in the inbox of their batches. Idempotent.
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

/**
 * Which of these workflows drive something that is open: a batch, or the activity that owns them.
 * @param workflows - each with the activity in its id; a batch of one computer is named after its first operation, which
 *   may have ended before the others
 * @returns their ids
 */
export async function drivenAmong(
  sql: Sql,
  workflows: ReadonlyArray<{ id: string; owner: number }>,
): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(DRIVEN_AMONG, [
    workflows.map(({ id }) => id),
    workflows.map(({ owner }) => owner),
  ]);
  return new Set(rows.map(({ id }) => id));
}

// The mark is written every minute. It stays as it was until the whole repair is done, which the latest skip does not.
const SKIP_IDS = `
  with backup(at) as (
    select greatest(to_timestamp(m.mark / 1000.0),
      (select to_timestamp(value::float8) from system_setting where key = 'ids_skipped_at'))
    from reconciler_mark m where m.mark > 0
  ), lost(seconds) as (
    select coalesce(greatest(extract(epoch from $3::timestamptz - (select at from backup)), 0), 0)::bigint
  ), place as (
    select c.oid, c.relname = 'activity_id_seq' as is_activity, s.seqmax, coalesce(pg_sequence_last_value(c.oid), 0) as last
    from pg_class c join pg_depend d on d.objid = c.oid and d.deptype = 'i' join pg_sequence s on s.seqrelid = c.oid
    where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace
  )
  select setval(p.oid::regclass, greatest(
    p.last + least($1::bigint + $2::bigint * l.seconds, (p.seqmax - p.last) / 4),
    case when p.is_activity and $4::bigint > 0 then least($4::bigint + $1::bigint, p.seqmax - 1) else 0 end))
  from place p, lost l`;

const REMEMBER_SKIP = `
  insert into system_setting (key, value) values ('ids_skipped_at', extract(epoch from $1::timestamptz)::text)
  on conflict (key) do update set value = excluded.value`;

// Batches first, in their order: whoever processes them holds their locks. What had no
// message at the backup may have got one since, and the gateway takes no result without one.
const END_UNCERTAIN = `
  with batch as materialized (
    select id from lane where open_count > 0 order by id for update
  ), uncertain as materialized (
    select a.id, a.lane_id, a.account_id, a.computer_id, a.payload_id, a.deliver_at, a.deliver_before_time
    from activity a
    where a.lane_id in (select id from batch) and a.status in ('undelivered', 'delivered') and coalesce(a.deliver_at, $1) <= $1
    order by a.id
  ), given as (
    insert into agent_message as known (activity_id, lane_id, computer_id, payload_id, state, deliver_at, deliver_before)
    select id, lane_id, computer_id, payload_id, 'acked', coalesce(deliver_at, $1), deliver_before_time from uncertain
    on conflict (activity_id) do update set state = 'acked' where known.state in ('held', 'queued', 'sent')
  ), canceled as (
    insert into agent_inbox (lane_id, activity_id, kind, body, at)
    select u.lane_id, u.id, 'cancel', $2, $1 from uncertain u
  ), woken as (
    select pg_notify('${OUTBOX_CHANNEL}', '')
  )
  select ac.id as "accountId", ac.name as "accountName", count(*)::int as operations
  from woken, uncertain u join account ac on ac.id = u.account_id group by ac.id order by ac.id`;

const DRIVEN_AMONG = `
  select w.id from unnest($1::text[], $2::int[]) as w(id, owner)
  where exists (select from activity a where a.id = w.owner and (a.open_count > 0 or ${isOpen('a.status')}))
    or exists (select from lane l where l.wf_id = w.id and l.open_count > 0)`;
