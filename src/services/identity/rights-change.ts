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
 * Serializes changes and checks the caller's rights under the lock: otherwise a just removed administrator could
 * restore themselves. In effect here at once, elsewhere within seconds. `limit` rejects roles beyond the caller's
 * rights. @throws {DomainError} Unauthorized or Forbidden when the caller lost their rights, and what `work` throws
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

type RoleLimit = (roleIds: readonly number[]) => Promise<void>;

/**
 * Who manages roles in some access groups only (`reach`; null: all) may assign only roles that apply there and grant
 * nothing the caller lacks there: otherwise they could gain rights in the whole account.
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
