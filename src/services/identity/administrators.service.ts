import { DomainError } from '../../domain/common/errors.ts';
import { ADMINISTRATOR_ROLE } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import {
  type AdministratorRow,
  findAdministrator,
  listAdministrators,
} from '../../persistence/identity/administration.sql.ts';
import { deleteMembership, isRoleHeld, replaceRoles } from '../../persistence/identity/roles.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { resolveRoles } from './resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { record } from './record.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

export type AdministratorsService = ReturnType<typeof createAdministratorsService>;

export function createAdministratorsService(deps: RightsChangeDeps) {
  return {
    list: (caller: Caller, page: PageRequest) => listAdministrators(deps.db, caller.accountId, page),
    /** Idempotent. @throws UnknownPerson, UnknownRole, LastGlobalAdmin; Forbidden beyond what the caller may manage */
    setRoles: (caller: Caller, personId: number, roles: readonly string[]) =>
      changeRights(deps, caller, async (tx, limit) => {
        const { accountId } = caller;
        const before = await requireAdministrator(tx, accountId, personId);
        const roleIds = await resolveRoles(tx, accountId, roles);
        const heldIds = await resolveRoles(tx, accountId, before.roles);
        await limit([
          ...roleIds.filter((id) => !heldIds.includes(id)),
          ...heldIds.filter((id) => !roleIds.includes(id)),
        ]);
        await replaceRoles(tx, accountId, personId, roleIds);
        await requireGlobalAdmin(tx, accountId);
        const after = await requireAdministrator(tx, accountId, personId);
        const message = `Changed the roles of ${after.name} from ${before.roles.join(', ')} to ${after.roles.join(', ')}`;
        await record(tx, caller, 'Administrator', after, message);
        return after;
      }),
    /** Ends a membership, also one's own. @throws {DomainError} UnknownPerson, LastGlobalAdmin, Forbidden as `setRoles` */
    remove: (caller: Caller, personId: number) =>
      changeRights(deps, caller, async (tx, limit) => {
        const person = await requireAdministrator(tx, caller.accountId, personId);
        if (personId !== caller.personId) await limit(await resolveRoles(tx, caller.accountId, person.roles));
        await deleteMembership(tx, caller.accountId, personId);
        await requireGlobalAdmin(tx, caller.accountId);
        await record(tx, caller, 'Administrator', person, `Removed the administrator ${person.name}`);
      }),
  };
}

/** @throws {DomainError} UnknownPerson */
export async function requireAdministrator(tx: Sql, accountId: number, personId: number): Promise<AdministratorRow> {
  const found = await findAdministrator(tx, accountId, personId);
  if (!found) throw new DomainError('UnknownPerson', 'There is no such person');
  return found;
}

/** Call it after the change and under the lock, so that the second of two concurrent changes sees the first. */
async function requireGlobalAdmin(tx: Sql, accountId: number): Promise<void> {
  if (await isRoleHeld(tx, accountId, ADMINISTRATOR_ROLE)) return;
  throw new DomainError('LastGlobalAdmin', `The account needs an administrator with the role ${ADMINISTRATOR_ROLE}`);
}
