import { useQuery } from '@tanstack/react-query';
import { featuresQuery } from '../../session/features.ts';
import { loginMethodsQuery } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';

const METHODS = [
  { key: 'password', label: 'Password', description: 'People sign in with their email address and their password' },
  {
    key: 'pam',
    label: 'PAM',
    description: 'People sign in with their login name, which the system of the server checks',
  },
  { key: 'access_key', label: 'Access key', description: 'Programs sign in with the key of a person' },
] as const;

/** What the server offers. Its own settings decide that, not the page. */
export function ServerTab() {
  const features = useQuery(featuresQuery);
  const methods = useQuery(loginMethodsQuery);
  return (
    <>
      <p className="quiet">
        The settings of the server decide what is on. They are read when it starts, and cannot be changed here.
      </p>
      <Section title="Features">
        <ErrorMessage error={features.error} />
        {features.isPending && <Skeleton lines={8} />}
        {features.data && (
          <States
            label="Features"
            items={features.data.map(({ name, description, enabled }) => ({ name, description, isOn: enabled }))}
          />
        )}
      </Section>
      <Section title="Ways to sign in">
        <ErrorMessage error={methods.error} />
        {methods.isPending && <Skeleton />}
        {methods.data && (
          <States
            label="Ways to sign in"
            items={METHODS.map(({ key, label, description }) => ({
              name: label,
              description,
              isOn: methods.data[key].enabled,
            }))}
          />
        )}
      </Section>
    </>
  );
}

interface StatesProps {
  label: string;
  items: ReadonlyArray<{ name: string; description: string; isOn: boolean }>;
}

function States({ label, items }: StatesProps) {
  return (
    <div className="list-scroller">
      <table className="list server-states" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">What it does</th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ name, description, isOn }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <StateMark tone={isOn ? 'good' : 'idle'}>{isOn ? 'On' : 'Off'}</StateMark>
              </td>
              <td title={description}>{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
