/** Types of events that clients can follow. @see docs/events.md#types */
export type EventType =
  | 'activity.created'
  | 'activity.approved'
  | 'activity.started'
  | 'activity.ended'
  | 'operation.delivered'
  | 'operation.ended'
  | 'computer.enrolled'
  | 'computer.changed'
  | 'computer.removed'
  | 'alert.raised'
  | 'alert.resolved'
  | 'profile.run'
  | 'permissions.changed'
  | 'log.recorded';

/** Types that need ViewEventLog. */
export const LOG_TYPES = ['log.recorded', 'permissions.changed'] as const satisfies readonly EventType[];

/** A place between two events of the feed; events come in this order. */
export interface Cursor {
  position: number;
  id: number;
}

export const OLDEST: Cursor = { position: 0, id: 0 };

export function isBefore(one: Cursor, other: Cursor): boolean {
  return one.position < other.position || (one.position === other.position && one.id < other.id);
}

/** The text of a cursor, which is also the id of the event before it. */
export function formatCursor({ position, id }: Cursor): string {
  return `${position}-${id}`;
}

/** @returns null for a text that is no cursor */
export function parseCursor(text: string): Cursor | null {
  const parts = /^(\d{1,16})-(\d{1,16})$/.exec(text);
  if (!parts) return null;
  const [position, id] = [Number(parts[1]), Number(parts[2])];
  return Number.isSafeInteger(position) && Number.isSafeInteger(id) ? { position, id } : null;
}

/** A CloudEvent in structured JSON. @see docs/events.md#an-event */
export interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: EventType;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  data: Record<string, unknown>;
}

export interface StoredEvent extends Cursor {
  account_id: number;
  time: Date;
  type: string;
  activity_id: number | null;
  computer_id: number | null;
  data: unknown;
}

/** Depends on the row alone, so that every delivery of an event has the same bytes. */
export function toCloudEvent(event: StoredEvent): CloudEvent {
  const { activity_id, computer_id, account_id } = event;
  const ids = { ...(activity_id !== null && { activity_id }), ...(computer_id !== null && { computer_id }) };
  return {
    specversion: '1.0',
    id: formatCursor(event),
    source: `/accounts/${account_id}`,
    type: event.type as EventType,
    subject: subjectOf(event),
    time: event.time.toISOString(),
    datacontenttype: 'application/json',
    data: { ...ids, ...(event.data as object) },
  };
}

function subjectOf({ type, activity_id, computer_id, account_id }: StoredEvent): string {
  if (computer_id !== null && !type.startsWith('activity.')) return `computers/${computer_id}`;
  if (activity_id !== null) return `activities/${activity_id}`;
  return `accounts/${account_id}`;
}
