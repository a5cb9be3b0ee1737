import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import type { Administrator } from './queries.ts';

/** Confirms the new address of a person where the server sends no mail. */
export function ConfirmEmailForm({ person: { id } }: { person: Administrator }) {
  const { close } = useOpenForm();
  const { draft, change, clear } = useDraft(`people.email-of.${id}`, { email: '' });
  const params = { path: { person_id: id } };
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb="Confirm"
      send={() => client.POST('/administrators/{person_id}:confirm-email', { params, body: draft })}
      request={{ method: 'POST', path: `/administrators/${id}:confirm-email`, body: draft }}
      changes={[['people'], ['me']]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <TextField
          label="New address"
          type="email"
          required
          autoComplete="off"
          hint="The address that this person entered in their settings within the last 24 hours. Make sure that it is theirs."
          error={errorOf('email')}
          value={draft.email}
          onChange={(event) => change({ email: event.target.value })}
        />
      )}
    </ActionForm>
  );
}
