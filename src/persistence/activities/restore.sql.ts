import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';
import { OUTBOX_CHANNEL } from './outbox.sql.ts';

export const UNKNOWN_OUTCOME = 'The database was restored from a backup; whether this was carried out is not known.';

/** Ids of one kind that may have been assigned since the backup: a burst of this many, and this many per second. */
const ID_MARGIN = 1_000_000;
const IDS_PER_SECOND = 100;

/** Advances the mark. @returns the previous one; null, without a change, when it is below `known`, the server's */
export async function advanceMark(sql: Sql, known: number, next: number): Promise<number | null> {
  const [row] = await sql.query<{ before: number }>(ADVANCE, { known, next });
  return row?.before ?? null;
}

const ADVANCE = `
  update reconciler_mark m set mark = greatest(m.mark, :next)
  from (select mark from reconciler_mark for update) b where b.mark >= :known
  returning b.mark::float8 as before`;

/** Sets the mark unconditionally, once the database is consistent with the Temporal server. */
export async function setMark(tx: Sql, mark: number): Promise<void> {
  await tx.query('update reconciler_mark set mark = greatest(mark, :mark)', { mark });
}

/** Skips ids that agents and clients may remember. @param activity - the highest known to Temporal; 0 for none */
export async function skipIds(tx: Sql, now: Date, activity: number): Promise<void> {
  await tx.query(SKIP_IDS, { idMargin: ID_MARGIN, idsPerSecond: IDS_PER_SECOND, now, activity });
  await tx.query(REMEMBER_SKIP, { now });
}

/** Accepts any next exchange of an agent, and sends it its intervals: what it got since the backup is unknown. */
export async function resetExchangeTokens(tx: Sql): Promise<void> {
  await tx.query(
    `update agent set token = null, request_digest = null, intervals = null, polls_fast = false, fast_at = null
     where token is not null`,
  );
}

/** Cancels operations possibly sent since the backup, until a late result. Idempotent. @returns numbers by account */
export function endUncertainOperations(tx: Sql, now: Date) {
  return tx.query<{ accountId: number; accountName: string; operations: number }>(END_UNCERTAIN, {
    now,
    unknownOutcome: UNKNOWN_OUTCOME,
  });
}

/** Ids of those workflows that drive an open batch or activity. @param workflows - with the activity in each id */
export async function drivenAmong(sql: Sql, workflows: ReadonlyArray<{ id: string; owner: number }>) {
  const rows = await sql.query<{ id: string }>(DRIVEN_AMONG, {
    ids: workflows.map(({ id }) => id),
    owners: workflows.map(({ owner }) => owner),
  });
  return new Set(rows.map(({ id }) => id));
}

// The mark is written every minute. It stays until the repair is complete; the latest skip does not.
const SKIP_IDS = `
  with backup(at) as (
    select greatest(to_timestamp(m.mark / 1000.0),
      (select to_timestamp(value::float8) from system_setting where key = 'ids_skipped_at'))
    from reconciler_mark m where m.mark > 0
  ), lost(seconds) as (
    select coalesce(greatest(extract(epoch from :now::timestamptz - (select at from backup)), 0), 0)::bigint
  ), place as (
    select c.oid, c.relname = 'activity_id_seq' as is_activity, s.seqmax, coalesce(pg_sequence_last_value(c.oid), 0) as last
    from pg_class c join pg_depend d on d.objid = c.oid and d.deptype = 'i' join pg_sequence s on s.seqrelid = c.oid
    where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace
  )
  select setval(p.oid::regclass, greatest(
    p.last + least(:idMargin::bigint + :idsPerSecond::bigint * l.seconds, (p.seqmax - p.last) / 4),
    case when p.is_activity and :activity::bigint > 0 then least(:activity::bigint + :idMargin::bigint, p.seqmax - 1) else 0 end))
  from place p, lost l`;

const REMEMBER_SKIP = `
  insert into system_setting (key, value) values ('ids_skipped_at', extract(epoch from :now::timestamptz)::text)
  on conflict (key) do update set value = excluded.value`;

// Batches first, in id order: the worker that processes a batch holds its lock. Operations without a message at the backup may
// have got one since, and the gateway rejects results without one.
const END_UNCERTAIN = `
  with batch as materialized (
    select id from lane where open_count > 0 order by id for update
  ), uncertain as materialized (
    select a.id, a.lane_id, a.account_id, a.computer_id, a.payload_id, a.deliver_at, a.deliver_before_time
    from activity a
    where a.lane_id in (select id from batch) and a.status in ('undelivered', 'delivered') and coalesce(a.deliver_at, :now) <= :now
    order by a.id
  ), given as (
    insert into agent_message as known (activity_id, lane_id, computer_id, payload_id, state, deliver_at, deliver_before)
    select id, lane_id, computer_id, payload_id, 'acked', coalesce(deliver_at, :now), deliver_before_time from uncertain
    on conflict (activity_id) do update set state = 'acked' where known.state in ('held', 'queued', 'sent')
  ), canceled as (
    insert into agent_inbox (lane_id, activity_id, kind, body, at)
    select u.lane_id, u.id, 'cancel', :unknownOutcome, :now from uncertain u
  ), woken as (
    select pg_notify('${OUTBOX_CHANNEL}', '')
  )
  select ac.id as "accountId", ac.name as "accountName", count(*)::int as operations
  from woken, uncertain u join account ac on ac.id = u.account_id group by ac.id order by ac.id`;

const DRIVEN_AMONG = `
  select w.id from unnest(:ids::text[], :owners::int[]) as w(id, owner)
  where exists (select from activity a where a.id = w.owner and (a.open_count > 0 or ${isOpen('a.status')}))
    or exists (select from lane l where l.wf_id = w.id and l.open_count > 0)`;
