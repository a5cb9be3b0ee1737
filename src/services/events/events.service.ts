import { type EventRow, listEvents } from '../../persistence/events/events.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

export interface EventSearch {
  /** Only events of the last so many days. */
  days: number;
  /** Part of the message or of a name, in any case, taken literally; empty for all. */
  search: string;
  limit: number;
  offset: number;
}

/** Who did what, when and from where in the caller's account. */
export interface EventsService {
  /** One page, newest first, and how many there are. */
  list(caller: Caller, search: EventSearch): Promise<{ count: number; rows: EventRow[] }>;
}

export function createEventsService(deps: { db: Database }): EventsService {
  return {
    list: ({ accountId }, { days, search, ...page }) => listEvents(deps.db, { accountId, days, search }, page),
  };
}
