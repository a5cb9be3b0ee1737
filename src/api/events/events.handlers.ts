import type { EventsService } from '../../services/events/events.service.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers, Schemas, Services } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';

export function eventsHandlers(services: Services) {
  return {
    listEvents: async (context) => {
      const { days = DEFAULT_DAYS, search = '' } = context.query;
      const { count, rows } = await services.events.list(context.caller, { days, search, ...pageOf(context) });
      return envelope(context, { count, results: rows }, toEventResponse);
    },
  } satisfies Handlers;
}

const DEFAULT_DAYS = 30;

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
