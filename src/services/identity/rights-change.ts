import { DomainError } from '../../domain/common/errors.ts';
import { findRoleReach } from '../../persistence/identity/rights.repository.ts';
import { lockRights } from '../../persistence/identity/rights-lock.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { type Authenticator, readPrincipal } from './login/authenticator.ts';
import type { Caller } from '../common/ports.ts';
import { limitRoles, type RoleLimit } from './role-limits.ts';

export interface RightsChangeDeps {
  db: Database;
  authenticator: Pick<Authenticator, 'forget'>;
}

/**
 * Changes who may do what in the caller's account: one change after the other, each by somebody who may still make it
 * when it is their turn. Else who was just removed could come back by their own hand.
 *
 * @param work - in the transaction of the change; with what limits the caller who manages roles of some access groups
 * @throws {DomainError} Unauthorized, Forbidden, when the caller's rights went meanwhile, and what `work` throws
 * @remarks This process reads the account's rights anew from the next call on, the others within seconds.
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
    return work(tx, limitRoles(manager, await findRoleReach(tx, caller)));
  });
  authenticator.forget({ accountName: caller.accountName });
  return done;
}
