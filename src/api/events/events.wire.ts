import type { EventsService } from '../../services/events/events.service.ts';
import type { components } from '../openapi/types.generated.ts';
import { wireTime } from '../common/time.wire.ts';

type EventRow = Awaited<ReturnType<EventsService['list']>>['rows'][number];

/** A line of the event log as the API writes it. */
export function wireEvent(row: EventRow): components['schemas']['Event'] {
  return { ...row, creation_time: wireTime(row.creation_time) };
}
