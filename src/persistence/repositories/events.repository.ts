import type { EventActor, NewEvent } from '../../domain/events.ts';
import type { Sql } from '../sql.ts';

/**
 * Writes one line of the event log: who, what, when and from where.
 *
 * @param tx - the transaction of the change itself, so that neither is there without the other
 * @param actor - a `Caller`, or who acted where there is none
 * @remarks Append-only: the database refuses to change or remove a line.
 * @see api-decisions 12.5
 */
export async function recordEvent(tx: Sql, actor: EventActor, event: NewEvent): Promise<void> {
  await tx.query(INSERT, [
    actor.accountId === 0 ? null : actor.accountId,
    actor.personId,
    actor.name,
    event.entityType,
    event.entityId,
    event.entityName,
    event.message,
    actor.origin.address,
    actor.origin.requestId,
  ]);
}

const INSERT = `
  insert into event (account_id, person_id, person_name, entity_type, entity_id, entity_name, message, address, request_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
