import type { components } from '@flotilla/client';
import { useCan } from '../../session/session.ts';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { AccessGroup } from '../../api/lists.ts';
import { FULL_ROLE, type Role } from './queries.ts';

interface RoleMatrixProps {
  roles: readonly Role[];
  permissions: ReadonlyArray<components['schemas']['Permission']>;
  groups: readonly AccessGroup[];
}

/** A line for each permission, a column for each role. */
export function RoleMatrix({ roles, permissions, groups }: RoleMatrixProps) {
  const part = (isGlobal: boolean) => permissions.filter(({ global }) => global === isGlobal);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the window is scrolled by keys
    <section className="list-scroller" aria-label="Roles and permissions" tabIndex={0}>
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">Permission</th>
            {roles.map((role) => (
              <th key={role.name} scope="col">
                <RoleHead role={role} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <FactLine title="People" roles={roles} fact={({ persons }) => persons.join(', ')} count />
          <FactLine title="Access groups" roles={roles} fact={(role) => titlesOf(role, groups)} />
          <PermissionLines title="In the access groups of the role" roles={roles} permissions={part(false)} />
          <PermissionLines title="In the whole account" roles={roles} permissions={part(true)} />
        </tbody>
      </table>
    </section>
  );
}

function RoleHead({ role: { name, description } }: { role: Role }) {
  const can = useCan();
  const { open } = useOpenForm();
  const label = (
    <bdi className="ellipsis" title={description || name}>
      {name}
    </bdi>
  );
  if (name === FULL_ROLE) {
    return (
      <>
        {label} <span className="quiet">read-only</span>
      </>
    );
  }
  if (!can('ManageRole')) return label;
  return (
    <Menu className="button button-quiet role-menu" label={label}>
      <MenuItem onSelect={() => open('change-role', name)}>Change…</MenuItem>
      <MenuItem onSelect={() => open('delete-role', name)}>Delete…</MenuItem>
    </Menu>
  );
}

interface LineProps {
  title: string;
  roles: readonly Role[];
}

function FactLine({ title, roles, fact, count }: LineProps & { fact: (role: Role) => string; count?: boolean }) {
  return (
    <tr>
      <th scope="row">{title}</th>
      {roles.map((role) => (
        <td key={role.name} title={fact(role)}>
          {count ? role.persons.length : <bdi>{fact(role) || '–'}</bdi>}
        </td>
      ))}
    </tr>
  );
}

function PermissionLines({ title, roles, permissions }: LineProps & Pick<RoleMatrixProps, 'permissions'>) {
  const has = ({ permissions: own, global_permissions }: Role, name: string) =>
    own.includes(name) || global_permissions.includes(name);
  return (
    <>
      <tr className="matrix-heading">
        <th scope="row">{title}</th>
        <td colSpan={roles.length} />
      </tr>
      {permissions.map((permission) => (
        <tr key={permission.name}>
          <th scope="row">{permission.title}</th>
          {roles.map((role) => (
            <td key={role.name} className={has(role, permission.name) ? 'matrix-yes' : 'quiet'}>
              <span aria-hidden="true">{has(role, permission.name) ? '✓' : '·'}</span>
              <span className="visually-hidden">{has(role, permission.name) ? 'Yes' : 'No'}</span>
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}

function titlesOf({ access_groups }: Role, groups: readonly AccessGroup[]): string {
  return access_groups.map((name) => groups.find((group) => group.name === name)?.title ?? name).join(', ');
}
