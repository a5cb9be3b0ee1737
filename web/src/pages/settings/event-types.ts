import type { EventType } from '@flotilla/client';

const LABELS: Record<EventType, string> = {
  'activity.created': 'Activity created',
  'activity.approved': 'Activity approved',
  'activity.started': 'Activity started',
  'activity.ended': 'Activity ended',
  'operation.delivered': 'Sent to a computer',
  'operation.ended': 'Ended on a computer',
  'computer.enrolled': 'Computer added',
  'computer.changed': 'Computer changed',
  'computer.removed': 'Computer removed',
  'alert.raised': 'Alert raised',
  'alert.resolved': 'Alert resolved',
  'profile.run': 'Profile run',
  'permissions.changed': 'Permissions changed',
  'log.recorded': 'Entry in the event log',
};

/** The types of events, as administrators call them. */
export const EVENT_TYPES = Object.entries(LABELS).map(([value, label]) => ({ value, label }));

/** What administrators call a type of events; tests of webhooks have one of their own. */
export function eventLabel(type: string): string {
  return type === 'webhook.test' ? 'Test' : (LABELS[type as EventType] ?? type);
}
