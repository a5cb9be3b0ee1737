import type { EventsService } from '../../services/events/events.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { formatTime } from '../common/time.ts';
import type { Handlers } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import type { components } from '../openapi/types.generated.ts';

export function eventsRoutes(deps: { services: Pick<Services, 'events'>; publicUrl: string }): Handlers {
  return {
    async listEvents(context) {
      const { days = DEFAULT_DAYS, search = '' } = context.query as { days?: number; search?: string };
      const { count, rows } = await deps.services.events.list(context.caller, { days, search, ...pageOf(context) });
      return { body: envelope(context, deps.publicUrl, { count, results: rows.map(toEventResponse) }) };
    },
  };
}

const DEFAULT_DAYS = 30;

type EventRow = Awaited<ReturnType<EventsService['list']>>['rows'][number];

function toEventResponse(row: EventRow): components['schemas']['Event'] {
  return { ...row, creation_time: formatTime(row.creation_time) };
}
