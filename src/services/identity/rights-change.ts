import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { findRoleGrants, type RoleGrant } from '../../persistence/identity/administration.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import { findRoleReach } from '../../persistence/identity/rights.sql.ts';
import type { Caller, Principal } from '../common/ports.ts';
import { holdsIn } from './group-rights.ts';
import { type Authenticator, readPrincipal } from './login/authenticator.ts';

export interface RightsChangeDeps {
  db: Database;
  authenticator: Pick<Authenticator, 'invalidate'>;
}

/**
 * Changes rights in the caller's account. Changes are serialized, and the caller's own rights are checked under the
 * lock: otherwise an administrator who was just removed could restore themselves. This process uses the new rights from
 * the next request on, the others within seconds.
 * @param work - runs in the transaction; `limit` rejects roles beyond the access groups that the caller manages
 * @throws {DomainError} Unauthorized or Forbidden when the caller lost their rights meanwhile, and what `work` throws
 */
export async function changeRights<T>(
  { db, authenticator }: RightsChangeDeps,
  caller: Caller,
  work: (tx: Sql, limit: RoleLimit) => Promise<T>,
): Promise<T> {
  const done = await db.transaction(async (tx) => {
    await lockRights(tx, caller.accountId);
    const manager = await readPrincipal(tx, { ...caller, ...caller.token });
    if (!manager.may('ManageRole')) throw new DomainError('Forbidden', 'The permission ManageRole is needed');
    return work(tx, limitRoles(tx, manager, await findRoleReach(tx, caller)));
  });
  authenticator.invalidate({ accountName: caller.accountName });
  return done;
}

/** Rejects roles that the caller may not manage. @throws {DomainError} Forbidden */
type RoleLimit = (roleIds: readonly number[]) => Promise<void>;

/**
 * Limits callers whose ManageRole applies to some access groups only: they may assign and change roles that apply only
 * there and grant nothing the caller does not have there. Otherwise they could gain rights in the whole account.
 * @param manager - with the rights from before the change
 * @param reach - access groups of their ManageRole; null for the whole account
 */
function limitRoles(tx: Sql, manager: Principal, reach: readonly number[] | null): RoleLimit {
  return async (roleIds) => {
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
