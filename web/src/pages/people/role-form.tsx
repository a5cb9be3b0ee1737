import type { components } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { accessGroupsQuery } from '../../api/lists.ts';
import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Checks } from '../../ui/checks.tsx';
import { TextField } from '../../ui/field.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { flatTree, groupTree } from './group-tree.ts';
import { permissionListQuery, type Role } from './queries.ts';

type Change = components['schemas']['RoleChange'];

const NEW = { name: '', description: '', permissions: [], global_permissions: [], access_groups: ['global'] };

/** Creates a role, or changes one. */
export function RoleForm({ role }: { role?: Role }) {
  const { close } = useOpenForm();
  const { draft, change, clear } = useDraft(`people.role.${role?.name ?? ''}`, role ?? { ...NEW, persons: [] });
  const { name, persons: _, ...fields } = draft;
  // The document limits the names of permissions, which come from the server here.
  const body = fields as Change;
  const path = role ? `/roles/${encodeURIComponent(role.name)}` : '/roles';
  const send = () =>
    role
      ? client.PATCH('/roles/{role_name}', { params: { path: { role_name: role.name } }, body })
      : client.POST('/roles', { body: { name, ...body } });
  const leave = () => {
    clear();
    close();
  };
  return (
    <ActionForm
      verb={role ? 'Save' : 'Create'}
      send={send}
      request={{ method: role ? 'PATCH' : 'POST', path, body: role ? body : { name, ...body } }}
      changes={[['people'], ['me']]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <>
          {!role && (
            <TextField
              label="Name"
              required
              autoComplete="off"
              hint="Cannot be changed later."
              error={errorOf('name')}
              value={name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
          <TextField
            label="Description"
            autoComplete="off"
            error={errorOf('description')}
            value={draft.description}
            onChange={(event) => change({ description: event.target.value })}
          />
          <RoleRights draft={draft} change={change} errorOf={errorOf} />
        </>
      )}
    </ActionForm>
  );
}

interface RoleRightsProps {
  draft: Pick<Role, 'permissions' | 'global_permissions' | 'access_groups'>;
  change: (changes: Partial<Role>) => void;
  errorOf: (field: string) => string | null;
}

function RoleRights({ draft, change, errorOf }: RoleRightsProps) {
  const { data: permissions = [] } = useQuery(permissionListQuery);
  const { data: groups = [] } = useQuery(accessGroupsQuery);
  const options = (isGlobal: boolean) =>
    permissions.filter(({ global }) => global === isGlobal).map(({ name: value, title: label }) => ({ value, label }));
  return (
    <>
      <Checks
        label="Access groups"
        error={errorOf('access_groups')}
        options={flatTree(groupTree(groups)).map(({ group, depth }) => ({
          value: group.name,
          label: group.title,
          depth,
        }))}
        chosen={draft.access_groups}
        onChange={(access_groups) => change({ access_groups })}
      >
        <p className="field-hint">With all groups below them.</p>
      </Checks>
      <Checks
        label="Permissions in these access groups"
        error={errorOf('permissions')}
        columns
        options={options(false)}
        chosen={draft.permissions}
        onChange={(chosen) => change({ permissions: chosen })}
      />
      <Checks
        label="Permissions in the whole account"
        error={errorOf('global_permissions')}
        columns
        options={options(true)}
        chosen={draft.global_permissions}
        onChange={(global_permissions) => change({ global_permissions })}
      />
    </>
  );
}
