import type { CloudEvent, components } from '@flotilla/client';
import { Link } from '@tanstack/react-router';

type LogEntry = components['schemas']['Event'];

/** The page of what an entry of the log is about; its name as text where there is no page. */
export function EntryLink({ entry: { entity_type: type, entity_id: id, entity_name: name } }: { entry: LogEntry }) {
  const text = <bdi>{name || entityWords(type)}</bdi>;
  if (type === 'Computer' && id !== null) {
    return (
      <Link to="/computers/$computerId" params={{ computerId: String(id) }}>
        {text}
      </Link>
    );
  }
  if (type === 'Activity' && id !== null) {
    return (
      <Link to="/activities/$activityId" params={{ activityId: String(id) }}>
        {text}
      </Link>
    );
  }
  if (type === 'Script' && id !== null) {
    return (
      <Link to="/scripts/$scriptId" params={{ scriptId: String(id) }}>
        {text}
      </Link>
    );
  }
  if ((type === 'UsgProfile' || type === 'ScriptProfile') && id !== null) {
    return <ProfileLink kind={type === 'UsgProfile' ? 'usg' : 'script'} id={id} text={text} />;
  }
  const section = SECTIONS[type];
  if (section === undefined) return text;
  const { to, tab } = section;
  return (
    <Link to={to} search={tab === undefined ? {} : { tab }}>
      {text}
    </Link>
  );
}

/** The page of what an event is about. */
export function EventSubject({ event: { type, data } }: { event: CloudEvent }) {
  if (type === 'profile.run') {
    return <ProfileLink kind={data.profile_type} id={data.profile_id} text={`Profile ${data.profile_id}`} />;
  }
  const { activity_id, computer_id } = data as { activity_id?: number; computer_id?: number };
  const isAboutComputer = computer_id !== undefined && !type.startsWith('activity.');
  return (
    <span className="event-subjects">
      {isAboutComputer && (
        <Link to="/computers/$computerId" params={{ computerId: String(computer_id) }}>
          Computer {computer_id}
        </Link>
      )}
      {activity_id !== undefined && (
        <Link to="/activities/$activityId" params={{ activityId: String(activity_id) }}>
          Activity {activity_id}
        </Link>
      )}
    </span>
  );
}

function ProfileLink({ kind, id, text }: { kind: 'usg' | 'script'; id: number; text: React.ReactNode }) {
  return (
    <Link to="/profiles/$kind/$profileId" params={{ kind, profileId: String(id) }}>
      {text}
    </Link>
  );
}

/** Where the rest is found. */
const SECTIONS: Record<string, { to: '/alerts' | '/people' | '/settings' | '/computers'; tab?: string }> = {
  AccessGroup: { to: '/people', tab: 'access-groups' },
  Account: { to: '/settings', tab: 'account' },
  Administrator: { to: '/people', tab: 'administrators' },
  Alert: { to: '/alerts' },
  Credentials: { to: '/people', tab: 'access-keys' },
  Invitation: { to: '/people', tab: 'invitations' },
  MessageBacklogSetting: { to: '/settings', tab: 'account' },
  Person: { to: '/people', tab: 'administrators' },
  Preferences: { to: '/settings', tab: 'account' },
  Role: { to: '/people', tab: 'roles' },
  SavedSearch: { to: '/computers' },
  Webhook: { to: '/settings', tab: 'webhooks' },
};

/** "Message backlog setting" of `MessageBacklogSetting`. */
function entityWords(type: string): string {
  const words = type.replace(/(?<!^)(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
