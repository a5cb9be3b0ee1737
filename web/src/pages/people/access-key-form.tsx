import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useMe } from '../../session/session.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useZone } from '../../ui/times/use-zone.ts';
import { toUtc } from '../../ui/times/zone.ts';
import { type Credential, credentialsQuery } from './queries.ts';

/** Creates an access key, for which the person gives their password once more. */
export function AccessKeyForm({ onCreated }: { onCreated: (created: Credential) => void }) {
  const me = useMe();
  const { close } = useOpenForm();
  const { draft, change, clear } = useDraft('people.access-key', { name: '', account: '', expires_on: '' });
  const [password, setPassword] = useState('');
  const zone = useZone();
  const account = draft.account || (me?.current_account ?? '');
  const body = {
    account,
    ...(draft.name.trim() !== '' && { name: draft.name }),
    ...(draft.expires_on !== '' && { expires_at: toUtc(`${draft.expires_on}T23:59:59`, zone) ?? '' }),
  };
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb="Create"
      send={async () => {
        onCreated((await client.POST('/credentials', { body: { ...body, password } })).data);
      }}
      request={{ method: 'POST', path: '/credentials', body: { ...body, password: '<your password>' } }}
      changes={[credentialsQuery.queryKey]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <>
          <TextField
            label="What it is for"
            autoComplete="off"
            error={errorOf('name')}
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
          {me && me.accounts.length > 1 && (
            <SelectField
              label="Account"
              error={errorOf('account')}
              options={me.accounts.map(({ name, title }) => ({ value: name, label: title }))}
              value={account}
              onChange={(event) => change({ account: event.target.value })}
            />
          )}
          <TextField
            label="Last day"
            type="date"
            hint={`It ends with this day in ${zone}. Without one it does not expire.`}
            error={errorOf('expires_at')}
            value={draft.expires_on}
            onChange={(event) => change({ expires_on: event.target.value })}
          />
          <TextField
            label="Your password"
            type="password"
            required
            autoComplete="current-password"
            error={errorOf('password')}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </>
      )}
    </ActionForm>
  );
}
