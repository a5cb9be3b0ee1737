import type { EventActor, NewEvent } from '../../domain/events/events.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

/**
 * Records one event: who did what, when and from where.
 * @param tx - the transaction of the change itself, so that both or neither are committed
 * @param actor - a `Caller`, or another actor
 * @remarks Append-only: the database rejects changes and deletions other than by {@link purgeExpiredEvents}.
 * @see docs/api-conventions.md#event-log
 */
export async function recordEvent(tx: Sql, actor: EventActor, event: NewEvent): Promise<void> {
  await recordEvents(tx, actor, [event]);
}

/** As {@link recordEvent}, for several events in one statement. */
export async function recordEvents(tx: Sql, actor: EventActor, events: readonly NewEvent[]): Promise<void> {
  const values = [
    actor.accountId === 0 ? null : actor.accountId,
    actor.personId,
    actor.name,
    actor.origin.address,
    actor.origin.requestId,
    events.map(({ entityType }) => entityType),
    events.map(({ entityId }) => entityId),
    events.map(({ entityName }) => entityName),
    events.map(({ message }) => message),
  ];
  await tx.query(INSERT, values, 'events');
}

/**
 * Deletes events older than `keepDays`, oldest first: the only deletion that the database allows.
 * @param keepDays - 1 or more
 * @param limit - number of events examined; if fewer are deleted, no more are due
 * @returns how many were deleted
 */
export async function purgeExpiredEvents(db: Sql, keepDays: number, limit: number): Promise<number> {
  const rows = await db.query<{ deleted: number }>('select forget_events(:keepDays, :limit) as deleted', {
    keepDays,
    limit,
  });
  return rows[0]!.deleted;
}

export interface EventRow {
  id: number;
  creation_time: Date;
  person_id: number | null;
  person_name: string;
  entity_type: string;
  entity_id: number | null;
  entity_name: string;
  message: string;
  address: string;
  request_id: string;
}

export interface EventFilter {
  accountId: number;
  /** Restricts to this many last days. */
  days: number;
  /** Case-insensitive part of the message or of a name; empty for all. */
  search: string;
}

/** One page of the log of an account, newest first, and the number of events. */
export async function listEvents(
  db: Sql,
  filter: EventFilter,
  page: PageRequest,
): Promise<{ count: number; rows: EventRow[] }> {
  const searching = filter.search !== '';
  const values = [filter.accountId, filter.days, ...(searching ? [filter.search] : [])];
  const [counts, rows] = await Promise.all([
    db.query<{ count: number }>(COUNT(searching), values),
    db.query<EventRow>(LIST(searching), [...values, page.limit, page.offset]),
  ]);
  return { count: counts[0]!.count, rows };
}

const INSERT = `
  insert into event (account_id, person_id, person_name, address, request_id, entity_type, entity_id, entity_name, message)
  select $1, $2, $3, $4, $5, e.entity_type, e.entity_id, e.entity_name, e.message
  from unnest($6::text[], $7::int[], $8::text[], $9::text[]) with ordinality
    as e(entity_type, entity_id, entity_name, message, place)
  order by e.place`;

const which = (searching: boolean) =>
  `account_id = $1 and creation_time >= now() - make_interval(days => $2::int)${
    searching ? ' and strpos(search_text, lower($3)) > 0' : ''
  }`;

const COUNT = (searching: boolean) => `select count(*)::int as count from event where ${which(searching)}`;

// Later pages skip index entries without reading their rows.
const LIST = (searching: boolean) => `
  select id, creation_time, person_id, person_name, entity_type, entity_id, entity_name, message, address, request_id
  from event where id in (
    select id from event where ${which(searching)}
    order by creation_time desc, id desc limit ${searching ? '$4 offset $5' : '$3 offset $4'})
  order by creation_time desc, id desc`;
