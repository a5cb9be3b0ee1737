import type { EntityType, EventActor } from '../../domain/events/events.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';

/** Records an event about an object. @param actor - the caller, with the account whose log gets it */
export function record(
  tx: Sql,
  actor: EventActor,
  entityType: EntityType,
  { id, name }: { id: number; name: string },
  message: string,
): Promise<void> {
  return recordEvent(tx, actor, { entityType, entityId: id, entityName: name, message });
}
