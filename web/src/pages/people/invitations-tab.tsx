import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useSendsMail } from '../../session/features.ts';
import { useCan } from '../../session/session.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-text.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { allRows } from '../../ui/use-rows.ts';
import { InviteForm } from './invite-form.tsx';
import { type Invitation, invitationsQuery } from './queries.ts';

/** Invitations that nobody has accepted yet. */
export function InvitationsTab() {
  const can = useCan();
  const { open } = useOpenForm();
  const { data, error } = useQuery(invitationsQuery);
  return (
    <>
      {can('ManageRole') && (
        <div className="toolbar">
          <Button kind="primary" onClick={() => open('invite')}>
            Invite
          </Button>
        </div>
      )}
      <DataTable
        label="Invitations"
        columns={can('ManageRole') ? [...COLUMNS, ACTIONS] : COLUMNS}
        rows={allRows(data, error)}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No open invitations">
            Invite the people who look after these computers with you. They choose their password themselves.
          </EmptyState>
        }
      />
      <InvitationDialogs invitations={data ?? []} />
    </>
  );
}

const COLUMNS: readonly Column<Invitation>[] = [
  { id: 'name', header: 'Name', width: 'minmax(128px, 1fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  { id: 'email', header: 'Email', width: 'minmax(176px, 1fr)', cell: ({ email }) => <bdi title={email}>{email}</bdi> },
  {
    id: 'bound',
    header: 'Valid for',
    width: '168px',
    cell: ({ bind_to_email }) => (bind_to_email ? 'this address only' : 'whoever has the link'),
  },
  { id: 'sent', header: 'Created', width: '168px', cell: ({ creation_time }) => <Time value={creation_time} /> },
  { id: 'expires', header: 'Expires', width: '168px', cell: ({ expires_at }) => <Time value={expires_at} /> },
];
const ACTIONS: Column<Invitation> = {
  id: 'actions',
  header: 'Actions',
  width: '272px',
  cell: (invitation) => <InvitationActions invitation={invitation} />,
};

function InvitationActions({ invitation: { id, secure_id, email } }: { invitation: Invitation }) {
  const sendsMail = useSendsMail();
  const { open } = useOpenForm();
  return (
    <span className="row-actions">
      {secure_id !== '' && (
        <CopyButton text={`${window.location.origin}/invitations/${secure_id}`}>
          Copy link<span className="visually-hidden"> for {email}</span>
        </CopyButton>
      )}
      {sendsMail && (
        <Button kind="quiet" onClick={() => open('resend', id)} aria-label={`Resend to ${email}`}>
          Resend
        </Button>
      )}
      <Button kind="quiet" onClick={() => open('withdraw', id)} aria-label={`Withdraw from ${email}`}>
        Withdraw
      </Button>
    </span>
  );
}

function InvitationDialogs({ invitations }: { invitations: readonly Invitation[] }) {
  const { subject } = useOpenForm();
  const invitation = invitations.find(({ id }) => String(id) === subject);
  return (
    <>
      <FormDialog form="invite" title="Invite somebody">
        <InviteForm />
      </FormDialog>
      {invitation && (
        <>
          <FormDialog
            form="resend"
            title={
              <>
                Resend the invitation to <bdi>{invitation.email}</bdi>
              </>
            }
          >
            <ResendForm invitation={invitation} />
          </FormDialog>
          <FormDialog
            form="withdraw"
            title={
              <>
                Withdraw the invitation of <bdi>{invitation.email}</bdi>
              </>
            }
          >
            <WithdrawForm invitation={invitation} />
          </FormDialog>
        </>
      )}
    </>
  );
}

function ResendForm({ invitation: { id } }: { invitation: Invitation }) {
  const { close } = useOpenForm();
  const params = { path: { invitation_id: id } };
  return (
    <ActionForm
      verb="Resend"
      send={() => client.POST('/invitations/{invitation_id}', { params })}
      request={{ method: 'POST', path: `/invitations/${id}` }}
      command={['invitations', 'resend', String(id)]}
      changes={[invitationsQuery.queryKey]}
      onDone={close}
      onCancel={close}
    >
      {() => <p>The mail with the link goes out once more.</p>}
    </ActionForm>
  );
}

function WithdrawForm({ invitation: { id } }: { invitation: Invitation }) {
  const { close } = useOpenForm();
  const params = { path: { invitation_id: id } };
  return (
    <ActionForm
      verb="Withdraw"
      danger
      send={() => client.DELETE('/invitations/{invitation_id}', { params })}
      request={{ method: 'DELETE', path: `/invitations/${id}` }}
      command={['invitations', 'withdraw', String(id)]}
      changes={[invitationsQuery.queryKey]}
      onDone={close}
      onCancel={close}
    >
      {() => <p>Its link can no longer be used.</p>}
    </ActionForm>
  );
}
