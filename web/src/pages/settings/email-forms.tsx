import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useSendsMail } from '../../session/features.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { TextField } from '../../ui/field.tsx';

/** Confirms the new address of the person with what was mailed to it. */
export function EmailConfirmation({ address }: { address: string }) {
  const sendsMail = useSendsMail();
  const [token, setToken] = useState('');
  if (sendsMail === undefined) return null;
  if (!sendsMail) {
    return (
      <p>
        <bdi>{address}</bdi> waits for confirmation. This server sends no mail: an administrator confirms the address on
        the page People.
      </p>
    );
  }
  return (
    <ActionForm
      verb="Confirm address"
      send={() => client.POST('/person:confirm-email', { body: { token } })}
      request={{ method: 'POST', path: '/person:confirm-email', body: { token: '<code from the mail>' } }}
      changes={[['me'], ['people']]}
    >
      {(errorOf) => (
        <TextField
          label={`Code that was mailed to ${address}`}
          required
          autoComplete="one-time-code"
          hint="It can be used once, within 24 hours."
          error={errorOf('token')}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      )}
    </ActionForm>
  );
}

/** Sends a mail to the person, to see whether mails arrive. */
export function TestEmail() {
  if (!useSendsMail()) return null;
  return (
    <ActionForm
      verb="Send a test mail"
      done="The mail server has accepted the mail"
      send={() => client.POST('/person:test-email')}
      request={{ method: 'POST', path: '/person:test-email' }}
    >
      {() => null}
    </ActionForm>
  );
}
