import {
  type CloudEvent,
  type Cursor,
  type EventType,
  formatCursor,
  isBefore,
  OLDEST,
  parseCursor,
  toCloudEvent,
} from '../../domain/events/cloud-events.ts';
import { DomainError } from '../../domain/common/errors.ts';
import {
  type EventSelection,
  type FeedState,
  findEvents,
  readFeedState,
} from '../../persistence/events/cloud-events.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { fieldError } from '../common/fields.ts';
import type { Caller, Clock } from '../common/ports.ts';
import type { Authenticator } from '../identity/login/authenticator.ts';
import { prepareComputerQuery } from '../query/computer-queries.ts';
import type { EventHub } from './event-hub.ts';
import { HEARTBEAT_MS, pause, viewOf, watchRights } from './streams.ts';

export interface EventFeedRequest {
  /** A cursor, `oldest` or `latest`. */
  after: string;
  types: readonly EventType[] | null;
  /** Only events about the computers that match; null for all. */
  query: string | null;
}

interface EventFeedPage {
  events: CloudEvent[];
  /** Where the next read continues, also when there were no events. */
  cursor: string;
  /** There may be more already. */
  more: boolean;
}

export type StreamItem = { kind: 'event'; event: CloudEvent } | { kind: 'cursor'; cursor: string } | { kind: 'idle' };

const STREAM_PAGE = 500;
const HELD_MS = 100;

interface FeedDeps {
  db: Database;
  clock: Clock;
  hub: EventHub;
  authenticator: Authenticator;
}

/** Events in the order of commits. @see docs/events.md#order-and-cursors */
export function createEventFeedService(deps: FeedDeps) {
  const { db } = deps;
  return {
    /** One page. @throws {DomainError} InvalidParameter, InvalidQueryError, EventsExpired */
    async read(caller: Caller, request: EventFeedRequest, limit: number): Promise<EventFeedPage> {
      const selection = await select(deps, caller, request);
      const state = await readFeedState(db);
      const after = resolveCursor(request.after, state);
      const { rows, cursor, more } = await findEvents(db, selection, { after, horizon: state.horizon, limit });
      return { events: rows.map(toCloudEvent), cursor: formatCursor(cursor), more };
    },
    /**
     * Events as they are committed, with `idle` where a heartbeat is due. Ends when the process stops, and when the rights
     * of the caller change or end. @throws as `read`, before the first item
     */
    async follow(caller: Caller, request: EventFeedRequest): Promise<AsyncGenerator<StreamItem>> {
      const selection = await select(deps, caller, request);
      const after = resolveCursor(request.after, await readFeedState(db));
      return follow(deps, caller, selection, after);
    },
  };
}

async function* follow(
  { db, hub, authenticator }: FeedDeps,
  caller: Caller,
  selection: EventSelection,
  start: Cursor,
): AsyncGenerator<StreamItem> {
  const ended = new AbortController();
  let wake = new AbortController();
  const unsubscribe = hub.subscribe(`account/${caller.accountId}`, () => wake.abort());
  const rights = watchRights(authenticator, caller, ended);
  const stopped = AbortSignal.any([ended.signal, hub.closing]);
  try {
    let after = start;
    let silentSince = performance.now();
    yield { kind: 'cursor', cursor: formatCursor(after) };
    while (!stopped.aborted) {
      wake = new AbortController();
      const { horizon, held } = await readFeedState(db);
      const { rows, cursor, more } = await findEvents(db, selection, { after, horizon, limit: STREAM_PAGE });
      if (rows.length > 0) silentSince = performance.now();
      for (const row of rows) {
        if (stopped.aborted) return;
        yield { kind: 'event', event: toCloudEvent(row) };
      }
      after = cursor;
      if (more) continue;
      // There is no notification when the transaction that holds events back ends.
      if (held) await pause(HELD_MS, stopped);
      else await pause(HEARTBEAT_MS, AbortSignal.any([stopped, wake.signal]));
      if (performance.now() - silentSince < HEARTBEAT_MS || stopped.aborted) continue;
      silentSince = performance.now();
      yield { kind: 'idle' };
    }
  } finally {
    ended.abort();
    unsubscribe();
    await rights;
  }
}

async function select(deps: FeedDeps, caller: Caller, { types, query }: EventFeedRequest): Promise<EventSelection> {
  const computers = query === null ? null : await prepareComputerQuery(deps, caller.accountId, query);
  return {
    scope: { ...viewOf(caller), accountId: caller.accountId },
    log: caller.may('ViewEventLog'),
    types,
    computers,
  };
}

/** @throws {DomainError} InvalidParameter for no cursor of this feed, EventsExpired for one whose events were deleted */
export function resolveCursor(text: string, { horizon, purged }: FeedState, path = 'query.after'): Cursor {
  if (text === 'oldest') return OLDEST;
  if (text === 'latest') return { position: horizon, id: 0 };
  const cursor = parseCursor(text);
  if (!cursor) throw fieldError(path, 'must be the id of an event, a cursor, oldest or latest');
  if (cursor.position > horizon) throw fieldError(path, 'is no cursor of this server');
  if (!isBefore(cursor, purged)) return cursor;
  throw new DomainError(
    'EventsExpired',
    `Events after this cursor were deleted; the oldest one is ${formatCursor(purged)}`,
    {
      details: [{ path, message: formatCursor(purged) }],
    },
  );
}
