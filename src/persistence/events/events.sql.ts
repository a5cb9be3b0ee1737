import type { EventActor, NewEvent } from '../../domain/events/events.ts';
import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';

/** Records an event in the transaction of the change itself. Append-only. @see docs/api-conventions.md#event-log */
export async function recordEvent(tx: Sql, actor: EventActor, event: NewEvent): Promise<void> {
  await recordEvents(tx, actor, [event]);
}

/** As {@link recordEvent}, for several events in one statement. */
export async function recordEvents(tx: Sql, actor: EventActor, events: readonly NewEvent[]): Promise<void> {
  const { accountId, personId, name, origin } = actor;
  const values = {
    ...origin,
    accountId: accountId === 0 ? null : accountId,
    personId,
    name,
    entityTypes: events.map(({ entityType }) => entityType),
    entityIds: events.map(({ entityId }) => entityId),
    entityNames: events.map(({ entityName }) => entityName),
    messages: events.map(({ message }) => message),
  };
  await tx.query(INSERT, values, 'events');
}

/** Deletes events older than `keepDays` (1 or more), oldest first, among `limit`. @returns how many; fewer: no more */
export async function purgeExpiredEvents(db: Sql, keepDays: number, limit: number): Promise<number> {
  const rows = await db.query<{ deleted: number }>('select forget_events(:keepDays, :limit) as deleted', {
    keepDays,
    limit,
  });
  return rows[0]!.deleted;
}

type EventRow = Row<
  'event',
  `id, creation_time, person_id, person_name, entity_type, entity_id, entity_name, message, address, request_id`
>;

export interface EventFilter {
  accountId: number;
  days: number;
  search: string;
}

/** One page of the log of an account, newest first, and the number of events. */
export async function listEvents(db: Sql, filter: EventFilter, page: PageRequest) {
  const matching = `account_id = :accountId and creation_time >= now() - make_interval(days => :days::int)${
    filter.search === '' ? '' : ' and strpos(search_text, lower(:search)) > 0'
  }`;
  const [counts, rows] = await Promise.all([
    db.query<{ count: number }>(`select count(*)::int as count from event where ${matching}`, filter),
    db.query<EventRow>(list(matching), { ...filter, ...page }),
  ]);
  return { count: counts[0]!.count, rows };
}

const INSERT = `
  insert into event (account_id, person_id, person_name, address, request_id, entity_type, entity_id, entity_name, message)
  select :accountId, :personId, :name, :address, :requestId, e.entity_type, e.entity_id, e.entity_name, e.message
  from unnest(:entityTypes::text[], :entityIds::int[], :entityNames::text[], :messages::text[]) with ordinality
    as e(entity_type, entity_id, entity_name, message, place)
  order by e.place`;

// Later pages skip index entries without reading their rows.
const list = (matching: string) => `
  select id, creation_time, person_id, person_name, entity_type, entity_id, entity_name, message, address, request_id
  from event where id in (
    select id from event where ${matching}
    order by creation_time desc, id desc limit :limit offset :offset)
  order by creation_time desc, id desc`;
