import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import { findRoleGrants, type RoleGrant } from '../../persistence/identity/roles.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { holdsIn } from './group-rights.ts';
import type { Principal } from '../common/ports.ts';

/**
 * Refuses roles that somebody may neither give nor change.
 *
 * @param roleIds - roles as they are now in the transaction
 * @throws {DomainError} Forbidden
 */
export type RoleLimit = (tx: Sql, roleIds: readonly number[]) => Promise<void>;

/**
 * What somebody may do to roles whose own ManageRole is limited to some access groups: roles that hold nowhere else, and
 * grant nothing that they do not hold there themselves. Else they could give themselves the whole account.
 *
 * @param manager - with the rights from before the change
 * @param reach - access groups of their ManageRole; null for the whole account, without a limit
 */
export function limitRoles(manager: Principal, reach: readonly number[] | null): RoleLimit {
  return async (tx, roleIds) => {
    if (reach === null) return;
    const grants = await findRoleGrants(tx, roleIds);
    const beyond = grants.find((grant) => !isWithin(manager, reach, grant));
    if (beyond) {
      throw new DomainError(
        'Forbidden',
        `The role ${beyond.name} goes beyond the access groups, or the permissions, in which you may manage roles`,
      );
    }
  };
}

function isWithin(manager: Principal, reach: readonly number[], grant: RoleGrant): boolean {
  const holds = (group: number) => (permission: string) => holdsIn(manager, permission as Permission, group);
  return (
    grant.groups.every((group) => reach.includes(group) && grant.permissions.every(holds(group))) &&
    grant.global_permissions.every((permission) => manager.may(permission as Permission))
  );
}
