import { DomainError } from '../../domain/common/errors.ts';
import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import {
  findRole,
  isOnlyRoleOfSomebody,
  listRoles,
  type RoleRow,
} from '../../persistence/identity/administration.sql.ts';
import {
  deleteRole,
  insertRole,
  type RoleContent,
  replaceRoleGroups,
  updateRole,
} from '../../persistence/identity/roles.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { readLine, fieldError } from '../common/fields.ts';
import { resolveAccessGroups } from './resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { record } from './record.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

export type RoleChange = Partial<RoleContent> & { accessGroups?: readonly string[] };

const ROOT = 'global';
const GROUPS_FIELD = 'body.access_groups';
const NO_CONTENT: RoleContent = { description: '', permissions: [], globalPermissions: [] };
const MAX_DESCRIPTION = 1000;

export type RolesService = ReturnType<typeof createRolesService>;

export function createRolesService(deps: RightsChangeDeps) {
  return {
    list: (caller: Caller, page: PageRequest) => listRoles(deps.db, caller.accountId, page),
    /** By default without permissions. @throws InvalidParameter, UnknownAccessGroup (400), DuplicateRole, Forbidden */
    create: (caller: Caller, given: string, change: RoleChange) =>
      changeRights(deps, caller, async (tx, limit) => {
        const name = readLine('body.name', given);
        const content = readContent(change, NO_CONTENT);
        const groupIds = await resolveAccessGroups(tx, caller.accountId, change.accessGroups ?? [ROOT], GROUPS_FIELD);
        const roleId = await insertRole(tx, caller.accountId, name, content);
        if (roleId === null) throw new DomainError('DuplicateRole', 'A role with this name already exists');
        await replaceRoleGroups(tx, roleId, groupIds);
        await limit([roleId]);
        const role = await requireRole(tx, caller, name);
        await record(tx, caller, 'Role', role, `Created the role ${name} with ${describe(role)}`);
        return role;
      }),
    /** Keeps the name. Idempotent. @throws UnknownRole, RoleReadOnly, InvalidParameter, UnknownAccessGroup (400) */
    change: (caller: Caller, name: string, change: RoleChange) =>
      changeRights(deps, caller, async (tx, limit) => {
        const before = await requireEditableRole(tx, caller, name);
        await limit([before.id]);
        await updateRole(
          tx,
          before.id,
          readContent(change, { ...before, globalPermissions: before.global_permissions }),
        );
        if (change.accessGroups !== undefined) {
          const groupIds = await resolveAccessGroups(tx, caller.accountId, change.accessGroups, GROUPS_FIELD);
          await replaceRoleGroups(tx, before.id, groupIds);
        }
        await limit([before.id]);
        const role = await requireRole(tx, caller, name);
        await record(tx, caller, 'Role', role, `Changed the role ${name}; it has ${describe(role)} now`);
        return role;
      }),
    /** @throws UnknownRole, RoleReadOnly; RoleInUse as the only role of an administrator or invitation */
    remove: (caller: Caller, name: string) =>
      changeRights(deps, caller, async (tx, limit) => {
        const role = await requireEditableRole(tx, caller, name);
        await limit([role.id]);
        if (await isOnlyRoleOfSomebody(tx, role.id)) {
          throw new DomainError('RoleInUse', 'An administrator or an invitation has no other role');
        }
        await deleteRole(tx, role.id);
        await record(tx, caller, 'Role', role, `Removed the role ${name}`);
      }),
  };
}

function readContent(change: RoleChange, base: RoleContent): RoleContent {
  const { description = base.description, permissions = base.permissions } = change;
  const { globalPermissions = base.globalPermissions } = change;
  if ([...description].length > MAX_DESCRIPTION) {
    throw fieldError('body.description', `must not have more than ${MAX_DESCRIPTION} characters`);
  }
  return {
    description,
    permissions: readPermissions('permissions', permissions, GROUP_PERMISSIONS),
    globalPermissions: readPermissions('global_permissions', globalPermissions, GLOBAL_PERMISSIONS),
  };
}

function readPermissions(field: string, given: readonly string[], known: readonly string[]): string[] {
  if (!given.every((permission) => known.includes(permission))) {
    throw fieldError(`body.${field}`, `must be of ${known.join(', ')}`);
  }
  return [...new Set(given)];
}

async function requireRole(tx: Sql, caller: Caller, name: string): Promise<RoleRow> {
  const found = await findRole(tx, caller.accountId, name);
  if (!found) throw new DomainError('UnknownRole', 'There is no such role');
  return found;
}

async function requireEditableRole(tx: Sql, caller: Caller, name: string): Promise<RoleRow> {
  const role = await requireRole(tx, caller, name);
  if (role.read_only) throw new DomainError('RoleReadOnly', 'This role cannot be changed');
  return role;
}

function describe(role: RoleRow): string {
  const permissions = [...role.permissions, ...role.global_permissions].join(', ') || 'no permission';
  return `${permissions} on ${role.access_groups.join(', ') || 'no access group'}`;
}
