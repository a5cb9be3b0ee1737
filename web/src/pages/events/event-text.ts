import type { CloudEvent, EventType } from '@flotilla/client';

/** What administrators call the types of events. */
export const EVENT_LABELS: Record<EventType, string> = {
  'activity.created': 'Activity created',
  'activity.approved': 'Activity approved',
  'activity.started': 'Activity started',
  'activity.ended': 'Activity ended',
  'operation.delivered': 'Sent to a computer',
  'operation.ended': 'Result of a computer',
  'computer.enrolled': 'Computer accepted',
  'computer.changed': 'Computer changed',
  'computer.removed': 'Computer removed',
  'alert.raised': 'Alert raised',
  'alert.resolved': 'Alert resolved',
  'profile.run': 'Profile run',
  'permissions.changed': 'Permissions changed',
  'log.recorded': 'Log entry',
};

export const EVENT_TYPES = Object.keys(EVENT_LABELS) as EventType[];

/** What has happened, in a few words. */
export function eventText(event: CloudEvent): string {
  switch (event.type) {
    case 'activity.created':
    case 'activity.approved':
    case 'activity.started':
      return event.data.summary;
    case 'activity.ended':
      return `${event.data.summary}: ${resultText(event.data)}`;
    case 'operation.delivered':
    case 'operation.ended':
      return `${wordsOf(event.data.activity_type)}: ${event.data.activity_status}`;
    case 'computer.changed':
      return `${event.data.title}: ${event.data.changed.map((field) => field.replaceAll('_', ' ')).join(', ')}`;
    case 'computer.enrolled':
    case 'computer.removed':
      return event.data.title;
    case 'alert.raised':
    case 'alert.resolved':
      return wordsOf(event.data.alert_type);
    case 'profile.run':
      return `${event.data.profile_type === 'usg' ? 'USG' : 'Script'} profile on ${computersText(event.data.computers)}`;
    case 'permissions.changed':
      return 'Roles or access groups of administrators have changed';
    case 'log.recorded':
      return `${event.data.person_name}: ${event.data.message}`;
    default:
      // A newer server may send further types.
      return (event as { type: string }).type;
  }
}

interface Counts {
  succeeded: number;
  failed: number;
  canceled: number;
}

function resultText(counts: Counts): string {
  const parts = (['succeeded', 'failed', 'canceled'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name].toLocaleString()} ${name}`);
  return parts.join(', ') || 'nothing to do';
}

export const computersText = (count: number): string =>
  count === 1 ? '1 computer' : `${count.toLocaleString()} computers`;

/** The words of a name such as `InstallSnaps` or `ComputerOfflineAlert`: "Install snaps", "Computer offline". */
export function wordsOf(name: string): string {
  const words = name.replace(/(Request|Alert|Activity)$/, '').split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  const isAcronym = (word: string) => word.length > 1 && word === word.toUpperCase();
  return words
    .map((word) => (word === 'Usg' || word === 'Wsl' ? word.toUpperCase() : word))
    .map((word, index) => (index === 0 || isAcronym(word) ? word : word.toLowerCase()))
    .join(' ');
}
