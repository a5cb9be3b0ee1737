import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';

const EMPTY = { password: '', new_password: '', repeated: '' };

/** Leaves for the sign-in page, where nothing that was read stays. */
export function useLeave() {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return async () => {
    queryClient.clear();
    await navigate({ to: '/sign-in' });
  };
}

/** Changes the person's password, which ends all their sessions. */
export function PasswordForm() {
  const leave = useLeave();
  const [fields, setFields] = useState(EMPTY);
  const { draft, change, clear } = useDraft('settings.password', { keep_access_keys: true });
  const { keep_access_keys } = draft;
  const field = (key: keyof typeof EMPTY) => ({
    type: 'password',
    required: true,
    value: fields[key],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [key]: event.target.value }),
  });
  const isMistyped = fields.repeated !== '' && fields.repeated !== fields.new_password;
  const send = async () => {
    if (isMistyped) throw new Error('The new password was not repeated exactly.');
    const { password, new_password } = fields;
    await client.PUT('/password', { body: { password, new_password, keep_access_keys } });
  };
  const shown = { password: '<password>', new_password: '<new password>', keep_access_keys };
  return (
    <ActionForm
      verb="Change password"
      send={send}
      request={{ method: 'PUT', path: '/password', body: shown }}
      onDone={() => {
        clear();
        void leave();
      }}
    >
      {(errorOf) => (
        <>
          <TextField
            label="Current password"
            autoComplete="current-password"
            error={errorOf('password')}
            {...field('password')}
          />
          <TextField
            label="New password"
            autoComplete="new-password"
            hint="At least 12 characters; common passwords are rejected."
            error={errorOf('new_password')}
            {...field('new_password')}
          />
          <TextField
            label="New password again"
            autoComplete="new-password"
            error={isMistyped ? 'must be the same as the new password' : null}
            {...field('repeated')}
          />
          <CheckField
            label="Keep my access keys"
            hint="All your sessions end, also this one. Without this, programs that use your access keys stop as well."
            checked={keep_access_keys}
            onChange={(event) => change({ keep_access_keys: event.target.checked })}
          />
        </>
      )}
    </ActionForm>
  );
}
