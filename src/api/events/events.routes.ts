import type { Router } from 'express';
import type { EventsService } from '../../services/events/events.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { formatTime } from '../common/time.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { createRouter } from '../http/router.ts';
import type { components } from '../openapi/types.generated.ts';

export function eventsRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'events'>;
  publicUrl: string;
}): Router {
  const { operation } = deps;
  const listEvents: Handler<'listEvents'> = async (context) => {
    const { days = DEFAULT_DAYS, search = '' } = context.query;
    const { count, rows } = await deps.services.events.list(context.caller, { days, search, ...pageOf(context) });
    return { body: envelope(context, deps.publicUrl, { count, results: rows.map(toEventResponse) }) };
  };
  return createRouter().get('/events', operation('listEvents', listEvents));
}

const DEFAULT_DAYS = 30;

type EventRow = Awaited<ReturnType<EventsService['list']>>['rows'][number];

function toEventResponse(row: EventRow): components['schemas']['Event'] {
  return { ...row, creation_time: formatTime(row.creation_time) };
}
