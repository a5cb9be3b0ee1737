import type { Router } from 'express';
import type { EventsService } from '../../services/events/events.service.ts';
import { formatTime } from '../common/time.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function eventsRoutes({ operation, services }: RouteDeps): Router {
  const listEvents: Handler<'listEvents'> = async (context) => {
    const { days = DEFAULT_DAYS, search = '' } = context.query;
    const { count, rows } = await services.events.list(context.caller, { days, search, ...pageOf(context) });
    return envelope(context, { count, results: rows }, toEventResponse);
  };
  return createRouter().get('/events', operation('listEvents', listEvents));
}

const DEFAULT_DAYS = 30;

type Event = Awaited<ReturnType<EventsService['list']>>['rows'][number];

function toEventResponse(event: Event): components['schemas']['Event'] {
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
