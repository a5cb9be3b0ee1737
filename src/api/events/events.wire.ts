import type { EventsService } from '../../services/events/events.service.ts';
import { formatTime } from '../common/time.wire.ts';
import type { components } from '../openapi/types.generated.ts';

type EventRow = Awaited<ReturnType<EventsService['list']>>['rows'][number];

export function toEventResponse(row: EventRow): components['schemas']['Event'] {
  return { ...row, creation_time: formatTime(row.creation_time) };
}
