import { useQuery } from '@tanstack/react-query';
import { personQuery } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Facts, Section, Skeleton } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { EmailConfirmation, TestEmail } from './email-forms.tsx';
import { PasswordForm } from './password-form.tsx';
import { PersonForm } from './person-form.tsx';
import { SignOutEverywhere } from './session-forms.tsx';

/** The person who is signed in. */
export function YouTab() {
  const { data: person, error } = useQuery(personQuery);
  if (error) return <ErrorMessage error={error} />;
  if (!person) return <Skeleton lines={10} />;
  return (
    <>
      <Facts
        items={[
          ['Last sign-in', <Time key="time" value={person.last_login_time} />],
          ['From', person.last_login_host],
        ]}
      />
      <div className="settings-pair">
        <Section title="Name, address and zone">
          <PersonForm key={person.email} person={person} />
          {person.pending_email && <EmailConfirmation address={person.pending_email} />}
          <TestEmail />
        </Section>
        <Section title="Password">
          <PasswordForm />
        </Section>
        <Section title="Sessions">
          <SignOutEverywhere />
        </Section>
      </div>
    </>
  );
}
