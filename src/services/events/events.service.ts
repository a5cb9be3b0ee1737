import type { Database } from '../../persistence/database/sql.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { type EventFilter, listEvents } from '../../persistence/events/events.sql.ts';
import type { Caller } from '../common/ports.ts';

export type EventsService = ReturnType<typeof createEventsService>;

export function createEventsService({ db }: { db: Database }) {
  return {
    /** One page, newest first, and the total number. */
    list: ({ accountId }: Caller, { days, search, ...page }: Omit<EventFilter, 'accountId'> & PageRequest) =>
      listEvents(db, { accountId, days, search }, page),
  };
}
