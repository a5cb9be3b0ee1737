import { useQuery } from '@tanstack/react-query';
import { permissionsQuery } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';
import { BacklogForm } from './backlog-form.tsx';
import { PreferencesForm } from './preferences-form.tsx';
import { backlogQuery, preferencesQuery } from './queries.ts';
import { SignOutAccount, SignOutSystem } from './session-forms.tsx';

/** What holds for everybody in the account. */
export function AccountTab() {
  const preferences = useQuery(preferencesQuery);
  const backlog = useQuery(backlogQuery);
  const { data: permissions } = useQuery(permissionsQuery);
  const error = preferences.error ?? backlog.error;
  if (error) return <ErrorMessage error={error} />;
  if (!preferences.data || backlog.data === undefined) return <Skeleton lines={10} />;
  return (
    <div className="settings-pair">
      <Section title="Preferences">
        <PreferencesForm preferences={preferences.data} />
      </Section>
      <Section title="Waiting for one computer">
        <BacklogForm limit={backlog.data} />
      </Section>
      <Section title="Sessions">
        <SignOutAccount />
        {permissions?.operator && <SignOutSystem />}
      </Section>
    </div>
  );
}
