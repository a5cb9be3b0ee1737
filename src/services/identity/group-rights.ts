import { DomainError } from '../../domain/common/errors.ts';
import {
  GLOBAL_PERMISSIONS,
  type GlobalPermission,
  GROUP_PERMISSIONS,
  type GroupPermission,
  type Permission,
} from '../../domain/identity/permissions.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { listAccessGroupNames } from '../../persistence/identity/access-groups.repository.ts';
import { isOperator } from '../../persistence/identity/rights.sql.ts';
import type { Caller } from '../common/ports.ts';

export interface HeldPermissions {
  global_permissions: GlobalPermission[];
  permissions: Array<{ name: GroupPermission; access_groups: string[] }>;
  operator: boolean;
}

/** What the caller has in the current account, with the names of the access groups where it applies. */
export async function listPermissions(sql: Sql, caller: Caller): Promise<HeldPermissions> {
  const groups = await listAccessGroupNames(sql, caller.accountId);
  const namesOf = (permission: GroupPermission) => {
    const held = caller.groups(permission);
    const ids = held === 'all' ? null : new Set(held);
    return groups.filter(({ id }) => ids === null || ids.has(id)).map(({ name }) => name);
  };
  return {
    global_permissions: GLOBAL_PERMISSIONS.filter((permission) => caller.may(permission)),
    permissions: GROUP_PERMISSIONS.filter((permission) => caller.may(permission)).map((name) => ({
      name,
      access_groups: namesOf(name),
    })),
    operator: await isOperator(sql, caller.personId),
  };
}

/** Whether the permission applies in this access group. */
export function holdsIn(caller: Pick<Caller, 'groups'>, permission: Permission, groupId: number): boolean {
  const groups = caller.groups(permission);
  return groups === 'all' || groups.includes(groupId);
}

/** @param where - the group as named in the error @throws {DomainError} Forbidden */
export function requireIn(caller: Caller, needed: readonly Permission[], groupId: number, where: string): void {
  const missing = needed.find((permission) => !holdsIn(caller, permission, groupId));
  if (missing) throw new DomainError('Forbidden', `The permission ${missing} is needed in ${where}`);
}
