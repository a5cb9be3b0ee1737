import { type EventRow, listEvents } from '../../persistence/events/events.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

export interface EventSearch {
  /** Maximum age of the events. */
  days: number;
  /** Part of the message or of a name, case-insensitive and without wildcards; empty for all. */
  search: string;
  limit: number;
  offset: number;
}

/** The audit log of the caller's account: who did what, when and from where. */
export interface EventsService {
  /** One page, newest first, and the total number. */
  list(caller: Caller, search: EventSearch): Promise<{ count: number; rows: EventRow[] }>;
}

export function createEventsService(deps: { db: Database }): EventsService {
  return {
    list: ({ accountId }, { days, search, ...page }) => listEvents(deps.db, { accountId, days, search }, page),
  };
}
