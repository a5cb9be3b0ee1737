import type { Sql } from '../database/sql.ts';
import { isDue } from '../query/delivery-conditions.ts';

export interface PingedComputer {
  id: number;
  waiting: boolean;
  lastAddress: string | null;
}

/** Reads computers in one statement; unknown ones are missing. */
export function readPings(db: Sql, computerIds: readonly number[], now: Date): Promise<PingedComputer[]> {
  return db.query<PingedComputer>(READ_PINGS, { computerIds, now }, 'gateway-read-pings');
}

export interface Contact {
  ping: Date | null;
  exchange: Date | null;
}

/** Locks rows in array order against deadlocks; PostgreSQL may choose another: a failed statement can be repeated. */
export async function writeContacts(db: Sql, contacts: ReadonlyMap<number, Contact>): Promise<void> {
  const rows = [...contacts].sort(([a], [b]) => a - b);
  await db.query(
    WRITE_CONTACTS,
    {
      ids: rows.map(([id]) => id),
      pings: rows.map(([, contact]) => contact.ping),
      exchanges: rows.map(([, contact]) => contact.exchange),
    },
    'gateway-write-contacts',
  );
}

/** Adds to the counts of unknown message types. Types beyond `max` are counted as `other`. */
export async function writeUnknownTypes(
  db: Sql,
  types: ReadonlyMap<string, number>,
  { other, max }: { other: string; max: number },
): Promise<void> {
  const rows = [...types].sort(([a], [b]) => (a < b ? -1 : 1));
  await db.query(
    WRITE_TYPES,
    { types: rows.map(([type]) => type), counts: rows.map(([, count]) => count), other, max },
    'gateway-write-types',
  );
}

// A computer approved since its last exchange must receive the new list of accepted types, and one that lost its slot
// among those that poll fast its normal intervals.
const READ_PINGS = `
  select c.id, s.last_address as "lastAddress", c.state = 'approved' and not c.archived and not ac.disabled and (
    (s.in_next is not null and not s.served_approved) or (s.polls_fast and s.fast_at is null)
    or (m.due and (ac.max_message_backlog is null or ac.max_message_backlog > m.sent))) as waiting
  from computer c join agent s on s.computer_id = c.id join account ac on ac.id = c.account_id
  cross join lateral (
    select coalesce(bool_or(${isDue(':now')}), false) as due, count(*) filter (where m.state = 'sent') as sent
    from agent_message m where m.computer_id = c.id and m.state in ('held', 'queued', 'sent')) m
  where c.id = any(:computerIds::int[])`;

const WRITE_CONTACTS = `
  update computer_contact c
  set last_ping_time = greatest(c.last_ping_time, v.ping), last_exchange_time = greatest(c.last_exchange_time, v.exchange)
  from unnest(:ids::int[], :pings::timestamptz[], :exchanges::timestamptz[]) v(id, ping, exchange)
  where c.computer_id = v.id`;

const WRITE_TYPES = `
  insert into agent_unknown_type as known (type, seen, last_seen_at)
  select v.type, sum(v.seen), now() from (
    select case when (select count(*) from agent_unknown_type) < :max
      or exists (select from agent_unknown_type k where k.type = u.type) then u.type else :other end as type, u.seen
    from unnest(:types::text[], :counts::bigint[]) u(type, seen)
  ) v group by v.type
  on conflict (type) do update set seen = known.seen + excluded.seen, last_seen_at = excluded.last_seen_at`;
