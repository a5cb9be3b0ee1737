import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan, useMe } from '../../session/session.ts';
import { CopyBlock } from '../../ui/copy-text.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { enrolmentTexts } from './enrolment-texts.ts';
import { preferencesQuery } from './queries.ts';
import { AcceptanceForm, RegistrationKey } from './registration-forms.tsx';

/** Stands for the registration key until it is put in. */
const KEY_TO_FILL_IN = 'the-registration-key';

/** How computers are added to the account, and which are let in. */
export function EnrolmentTab() {
  const can = useCan();
  const preferences = useQuery({ ...preferencesQuery, enabled: can('ManageAccount') });
  if (preferences.error) return <ErrorMessage error={preferences.error} />;
  if (can('ManageAccount') && !preferences.data) return <Skeleton lines={10} />;
  return (
    <>
      {preferences.data && (
        <div className="settings-pair">
          <Section title="Registration key">
            <RegistrationKey current={preferences.data.registration_password} />
          </Section>
          <Section title="New computers">
            <AcceptanceForm isAutomatic={preferences.data.auto_register_new_computers} />
          </Section>
        </div>
      )}
      <Section title="On each computer">
        <Commands registrationKey={preferences.data?.registration_password} />
      </Section>
    </>
  );
}

/** @param registrationKey - null where there is none; undefined for people who may not know it */
function Commands({ registrationKey }: { registrationKey: string | null | undefined }) {
  const me = useMe();
  const { draft, change } = useDraft('settings.enrolment', { address: window.location.origin });
  const [showsKey, setShowsKey] = useState(false);
  const { commands, configuration } = enrolmentTexts({
    address: draft.address,
    account: me?.current_account ?? '',
    registrationKey: registrationKey === null ? null : (showsKey && registrationKey) || KEY_TO_FILL_IN,
  });
  return (
    <div className="settings-steps">
      <TextField
        label="Address of the server for computers"
        type="url"
        hint="Computers contact the gateway. Where it has another address than this page, such as port 8090 of docker compose, enter it."
        value={draft.address}
        onChange={(event) => change({ address: event.target.value })}
      />
      {registrationKey && (
        <CheckField
          label="Show the registration key in these texts"
          checked={showsKey}
          onChange={(event) => setShowsKey(event.target.checked)}
        />
      )}
      {registrationKey === undefined && (
        <p>An administrator who manages the account knows whether a registration key is needed.</p>
      )}
      <CopyBlock label="For a shell on an Ubuntu computer" text={commands} />
      <p>
        Or write the settings into a file, which suits many computers at once, and run{' '}
        <code>sudo landscape-config --silent</code>.
      </p>
      <CopyBlock label="/etc/landscape/client.conf" text={configuration} />
      <p>
        The computer appears under <Link to="/computers">Computers</Link> within a minute or two. If new computers have
        to be accepted, it waits there first. What went wrong is in <code>/var/log/landscape/broker.log</code> on the
        computer.
      </p>
    </div>
  );
}
