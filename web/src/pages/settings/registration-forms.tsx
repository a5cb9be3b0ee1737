import { useState } from 'react';
import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-text.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { preferencesQuery } from './queries.ts';

const CHANGES = [preferencesQuery.queryKey];

/** The key that computers need to register: shown when it is wanted, changed and removed. */
export function RegistrationKey({ current }: { current: string | null }) {
  const { open } = useOpenForm();
  const [isShown, setShown] = useState(false);
  return (
    <>
      {current === null ? (
        <p>There is no registration key: every computer that reaches this server can register.</p>
      ) : (
        <p className="toolbar">
          <code>{isShown ? current : '••••••••'}</code>
          <Button kind="quiet" onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide' : 'Show'}
          </Button>
          <CopyButton text={current}>Copy key</CopyButton>
        </p>
      )}
      <div className="button-row">
        <Button onClick={() => open('key')}>{current === null ? 'Set a key' : 'Change the key'}</Button>
        {current !== null && (
          <Button kind="danger" onClick={() => open('no-key')}>
            Remove the key
          </Button>
        )}
      </div>
      <FormDialog form="key" title="Set the registration key">
        <KeyForm />
      </FormDialog>
      <FormDialog form="no-key" title="Remove the registration key">
        <RemoveKeyForm />
      </FormDialog>
    </>
  );
}

function KeyForm() {
  const { close } = useOpenForm();
  const [registration_password, setKey] = useState('');
  return (
    <ActionForm
      verb="Set"
      send={() => client.PATCH('/preferences', { body: { registration_password } })}
      request={{ method: 'PATCH', path: '/preferences', body: { registration_password: '<registration key>' } }}
      changes={CHANGES}
      onDone={close}
      onCancel={close}
    >
      {(errorOf) => (
        <>
          <TextField
            label="Registration key"
            required
            autoComplete="off"
            spellCheck={false}
            hint="3 to 50 characters. Computers that are registered already do not need it."
            error={errorOf('registration_password')}
            value={registration_password}
            onChange={(event) => setKey(event.target.value)}
          />
          <div>
            <Button onClick={() => setKey(randomKey())}>Make up a key</Button>
          </div>
        </>
      )}
    </ActionForm>
  );
}

function RemoveKeyForm() {
  const { close } = useOpenForm();
  const body = { registration_password: null };
  return (
    <ActionForm
      verb="Remove"
      danger
      send={() => client.PATCH('/preferences', { body })}
      request={{ method: 'PATCH', path: '/preferences', body }}
      changes={CHANGES}
      onDone={close}
      onCancel={close}
    >
      {() => <p>From now on every computer that reaches this server can register.</p>}
    </ActionForm>
  );
}

/** Whether new computers are accepted without somebody's decision. */
export function AcceptanceForm({ isAutomatic }: { isAutomatic: boolean }) {
  const { draft, change, clear } = useDraft('settings.acceptance', { auto_register_new_computers: isAutomatic });
  return (
    <ActionForm
      verb="Save"
      done="Saved"
      send={() => client.PATCH('/preferences', { body: draft })}
      request={{ method: 'PATCH', path: '/preferences', body: draft }}
      changes={[...CHANGES, ['pending-computers']]}
      onDone={clear}
    >
      {() => (
        <CheckField
          label="Accept new computers automatically"
          hint="Otherwise they wait until somebody accepts them."
          checked={draft.auto_register_new_computers}
          onChange={(event) => change({ auto_register_new_computers: event.target.checked })}
        />
      )}
    </ActionForm>
  );
}

/** 128 random bits in letters and digits. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
