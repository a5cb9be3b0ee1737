import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useSendsMail } from '../../session/features.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Checks } from '../../ui/checks.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { invitationsQuery, rolesQuery } from './queries.ts';

const NEW = { name: '', email: '', roles: [] as string[], bind_to_email: true };

/** Invites somebody to become an administrator with the chosen roles. */
export function InviteForm() {
  const { close } = useOpenForm();
  const { data: roles = [] } = useQuery(rolesQuery);
  const { draft, change, clear } = useDraft('people.invitation', NEW);
  const sendsMail = useSendsMail();
  const bound = draft.bind_to_email ? ['--bind'] : [];
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb="Invite"
      send={() => client.POST('/invitations', { body: draft })}
      request={{ method: 'POST', path: '/invitations', body: draft }}
      command={['invitations', 'create', draft.email, '--name', draft.name, '--roles', draft.roles.join(','), ...bound]}
      changes={[invitationsQuery.queryKey]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <>
          <TextField
            label="Name"
            required
            autoComplete="off"
            error={errorOf('name')}
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
          <TextField
            label="Email"
            type="email"
            required
            autoComplete="off"
            error={errorOf('email')}
            hint={
              sendsMail === false
                ? 'This server sends no mail: hand on the link, which is in the list of invitations afterwards.'
                : 'The invitation is mailed there. Its link is also in the list of invitations.'
            }
            value={draft.email}
            onChange={(event) => change({ email: event.target.value })}
          />
          <Checks
            label="Roles"
            error={errorOf('roles')}
            options={roles.map(({ name }) => ({ value: name, label: name }))}
            chosen={draft.roles}
            onChange={(chosen) => change({ roles: chosen })}
          />
          <CheckField
            label="Only this address may accept it"
            hint="Otherwise everybody who has the link may."
            checked={draft.bind_to_email}
            onChange={(event) => change({ bind_to_email: event.target.checked })}
          />
        </>
      )}
    </ActionForm>
  );
}
