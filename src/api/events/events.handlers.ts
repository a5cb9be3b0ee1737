import { DomainError } from '../../domain/common/errors.ts';
import type { EventFeedRequest, StreamItem } from '../../services/events/event-feed.service.ts';
import type { EventsService } from '../../services/events/events.service.ts';
import { formatTime } from '../common/time.ts';
import { eventStream, HEARTBEAT } from '../http/event-stream.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function eventsHandlers({ events, eventFeed }: Services) {
  return {
    listEvents: async (context) => {
      const { caller, query } = context;
      if (query.after !== undefined) {
        requireOnlyFeed(query);
        return eventFeed.read(caller, toFeedRequest(query, query.after), pageOf(context).limit);
      }
      requireOnlyLog(query);
      if (!caller.may('ViewEventLog')) throw new DomainError('Forbidden', 'The permission ViewEventLog is needed');
      const { days = DEFAULT_DAYS, search = '' } = query;
      const { count, rows } = await events.list(caller, { days, search, ...pageOf(context) });
      return envelope(context, { count, results: rows }, toEventResponse);
    },
    streamEvents: async ({ caller, query, request, response }) => {
      const after = request.get('Last-Event-ID') ?? query.after ?? 'latest';
      const items = await eventFeed.follow(caller, toFeedRequest(query, after));
      return eventStream(response, format(items));
    },
  } satisfies Handlers;
}

const DEFAULT_DAYS = 30;

type FeedQuery = RequestContext<'streamEvents'>['query'];

function toFeedRequest({ types, query }: FeedQuery, after: string): EventFeedRequest {
  return { after, types: types ?? null, query: query ?? null };
}

type EventsQuery = RequestContext<'listEvents'>['query'];

function requireOnlyLog({ types, query }: EventsQuery): void {
  const given = types ? 'types' : query !== undefined ? 'query' : null;
  if (given) throw new DomainError('InvalidParameterCombination', `${given} needs after`);
}

function requireOnlyFeed({ days = DEFAULT_DAYS, search, offset = 0 }: EventsQuery): void {
  // The validator fills in defaults.
  const given = days !== DEFAULT_DAYS ? 'days' : search !== undefined ? 'search' : offset > 0 ? 'offset' : null;
  if (given) throw new DomainError('InvalidParameterCombination', `${given} cannot be combined with after`);
}

async function* format(items: AsyncIterable<StreamItem>): AsyncGenerator<string> {
  for await (const item of items) {
    if (item.kind === 'idle') yield HEARTBEAT;
    else if (item.kind === 'cursor') yield `id: ${item.cursor}\n\n`;
    else yield `id: ${item.event.id}\nevent: ${item.event.type}\ndata: ${JSON.stringify(item.event)}\n\n`;
  }
}

type Event = Awaited<ReturnType<EventsService['list']>>['rows'][number];

function toEventResponse(event: Event): Schemas['Event'] {
  return {
    id: event.id,
    creation_time: formatTime(event.creation_time),
    person_id: event.person_id,
    person_name: event.person_name,
    entity_type: event.entity_type,
    entity_id: event.entity_id,
    entity_name: event.entity_name,
    message: event.message,
    address: event.address,
    request_id: event.request_id,
  };
}
