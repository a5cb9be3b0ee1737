import { useQuery } from '@tanstack/react-query';
import { accessGroupsQuery } from '../../api/lists.ts';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { Skeleton } from '../../ui/page.tsx';
import { permissionListQuery, type Role, rolesQuery } from './queries.ts';
import { RoleForm } from './role-form.tsx';
import { RoleMatrix } from './role-matrix.tsx';

/** Which role has which permission, and where. */
export function RolesTab() {
  const can = useCan();
  const { open } = useOpenForm();
  const roles = useQuery(rolesQuery);
  const permissions = useQuery(permissionListQuery);
  const groups = useQuery(accessGroupsQuery);
  const error = roles.error ?? permissions.error ?? groups.error;
  if (error) return <ErrorMessage error={error} />;
  if (!roles.data || !permissions.data || !groups.data) return <Skeleton lines={12} />;
  return (
    <>
      {can('ManageRole') && (
        <div className="toolbar">
          <Button kind="primary" onClick={() => open('new-role')}>
            Create role
          </Button>
        </div>
      )}
      <RoleMatrix roles={roles.data} permissions={permissions.data} groups={groups.data} />
      <RoleDialogs roles={roles.data} />
    </>
  );
}

function RoleDialogs({ roles }: { roles: readonly Role[] }) {
  const { subject } = useOpenForm();
  const role = roles.find(({ name }) => name === subject);
  return (
    <>
      <FormDialog form="new-role" title="Create a role">
        <RoleForm />
      </FormDialog>
      {role && (
        <>
          <FormDialog
            form="change-role"
            title={
              <>
                Change the role <bdi>{role.name}</bdi>
              </>
            }
          >
            <RoleForm role={role} />
          </FormDialog>
          <FormDialog
            form="delete-role"
            title={
              <>
                Delete the role <bdi>{role.name}</bdi>
              </>
            }
          >
            <DeleteRoleForm role={role} />
          </FormDialog>
        </>
      )}
    </>
  );
}

function DeleteRoleForm({ role: { name, persons } }: { role: Role }) {
  const { close } = useOpenForm();
  return (
    <ActionForm
      verb="Delete"
      danger
      send={() => client.DELETE('/roles/{role_name}', { params: { path: { role_name: name } } })}
      request={{ method: 'DELETE', path: `/roles/${encodeURIComponent(name)}` }}
      command={['roles', 'remove', name]}
      changes={[['people'], ['me']]}
      onDone={close}
      onCancel={close}
    >
      {() => (
        <p>
          {persons.length === 0
            ? 'Nobody has this role.'
            : `Taken away from ${persons.length === 1 ? '1 person' : `${persons.length} people`} at once.`}{' '}
          A role that is the only one of a person or of an invitation cannot be deleted.
        </p>
      )}
    </ActionForm>
  );
}
