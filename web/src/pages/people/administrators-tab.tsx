import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan, useMe } from '../../session/session.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Button } from '../../ui/button.tsx';
import { Checks } from '../../ui/checks.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { EmptyState } from '../../ui/page.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useRows } from '../../ui/use-rows.ts';
import { ConfirmEmailForm } from './confirm-email-form.tsx';
import { type Administrator, rolesQuery } from './queries.ts';

const KEY = ['people', 'administrators'];
const CHANGES = [['people']];

/** The administrators of the account, and their roles. */
export function AdministratorsTab() {
  const rows = useRows<Administrator>(
    KEY,
    async (query, signal) => (await client.GET('/administrators', { params: { query }, signal })).data,
  );
  const can = useCan();
  const { set } = usePageSearch();
  return (
    <>
      {can('ManageRole') && (
        <div className="toolbar">
          <Button kind="primary" onClick={() => set({ tab: 'invitations', form: 'invite' }, { push: true })}>
            Invite
          </Button>
        </div>
      )}
      <DataTable
        label="Administrators"
        columns={can('ManageRole') ? [...COLUMNS, ACTIONS] : COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No administrators" />}
      />
      <AdministratorDialogs find={(id) => findRow(rows, id)} />
    </>
  );
}

const COLUMNS: readonly Column<Administrator>[] = [
  { id: 'name', header: 'Name', width: 'minmax(140px, 1fr)', cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  { id: 'email', header: 'Email', width: 'minmax(180px, 1fr)', cell: ({ email }) => <bdi title={email}>{email}</bdi> },
  {
    id: 'roles',
    header: 'Roles',
    width: 'minmax(180px, 2fr)',
    cell: ({ roles }) => <bdi title={roles.join(', ')}>{roles.join(', ')}</bdi>,
  },
];
const ACTIONS: Column<Administrator> = {
  id: 'actions',
  header: 'Actions',
  width: '104px',
  cell: (person) => <PersonMenu person={person} />,
};

function PersonMenu({ person: { id, name } }: { person: Administrator }) {
  const { open } = useOpenForm();
  const me = useMe();
  return (
    <Menu
      className="button button-quiet"
      label={
        <>
          Change<span className="visually-hidden"> {name}</span>
        </>
      }
    >
      <MenuItem onSelect={() => open('roles-of', id)}>Change roles…</MenuItem>
      {me?.current_account === 'standalone' && (
        <MenuItem onSelect={() => open('confirm-email', id)}>Confirm a new email address…</MenuItem>
      )}
      <MenuItem onSelect={() => open('remove', id)}>Remove from the account…</MenuItem>
    </Menu>
  );
}

function findRow(rows: ReturnType<typeof useRows<Administrator>>, id: number): Administrator | undefined {
  return Array.from({ length: rows.count ?? 0 }, (_, index) => rows.get(index)).find((row) => row?.id === id);
}

function AdministratorDialogs({ find }: { find: (id: number) => Administrator | undefined }) {
  const { subject } = useOpenForm();
  const person = find(Number(subject));
  if (!person) return null;
  return (
    <>
      <FormDialog
        form="roles-of"
        title={
          <>
            Roles of <bdi>{person.name}</bdi>
          </>
        }
      >
        <RolesForm person={person} />
      </FormDialog>
      <FormDialog
        form="confirm-email"
        title={
          <>
            New email address of <bdi>{person.name}</bdi>
          </>
        }
      >
        <ConfirmEmailForm person={person} />
      </FormDialog>
      <FormDialog
        form="remove"
        title={
          <>
            Remove <bdi>{person.name}</bdi> from the account
          </>
        }
      >
        <RemoveForm person={person} />
      </FormDialog>
    </>
  );
}

function RolesForm({ person }: { person: Administrator }) {
  const { close } = useOpenForm();
  const { data: roles = [] } = useQuery(rolesQuery);
  const { draft, change, clear } = useDraft(`people.roles-of.${person.id}`, { roles: person.roles });
  const path = `/administrators/${person.id}`;
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb="Save roles"
      send={() =>
        client.PUT('/administrators/{person_id}', { params: { path: { person_id: person.id } }, body: draft })
      }
      request={{ method: 'PUT', path, body: draft }}
      command={['admins', 'set-roles', String(person.id), ...draft.roles]}
      changes={[...CHANGES, ['me']]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <Checks
          label="Roles"
          error={errorOf('roles')}
          options={roles.map(({ name }) => ({ value: name, label: name }))}
          chosen={draft.roles}
          onChange={(chosen) => change({ roles: chosen })}
        />
      )}
    </ActionForm>
  );
}

function RemoveForm({ person: { id, email } }: { person: Administrator }) {
  const { close } = useOpenForm();
  return (
    <ActionForm
      verb="Remove"
      danger
      send={() => client.DELETE('/administrators/{person_id}', { params: { path: { person_id: id } } })}
      request={{ method: 'DELETE', path: `/administrators/${id}` }}
      command={['admins', 'remove', String(id)]}
      changes={CHANGES}
      onDone={close}
      onCancel={close}
    >
      {() => (
        <p>
          <bdi>{email}</bdi> can no longer see or change anything in this account, from now on. Open invitations stay
          valid: withdraw those whose links this person may have kept.
        </p>
      )}
    </ActionForm>
  );
}
