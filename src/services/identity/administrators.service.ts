import { DomainError } from '../../domain/common/errors.ts';
import { ADMINISTRATOR_ROLE } from '../../domain/identity/permissions.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import {
  type AdministratorRow,
  deleteMembership,
  findAdministrator,
  isRoleHeld,
  listAdministrators,
  type Paged,
  replaceRoles,
} from '../../persistence/identity/administrators.repository.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { resolveRoles } from './resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

export interface AdministratorsService {
  /** One page of the account's administrators, by id. */
  list(caller: Caller, page: PageRequest): Promise<Paged<AdministratorRow>>;
  /**
   * Replaces an administrator's roles. Idempotent.
   * @throws {DomainError} UnknownPerson, UnknownRole, LastGlobalAdmin, Forbidden for roles the caller may not manage
   * @see docs/api-conventions.md#people
   */
  setRoles(caller: Caller, personId: number, roles: readonly string[]): Promise<AdministratorRow>;
  /** Ends a membership, also one's own. @throws {DomainError} UnknownPerson, LastGlobalAdmin, Forbidden as `setRoles` */
  remove(caller: Caller, personId: number): Promise<void>;
}

export function createAdministratorsService(deps: RightsChangeDeps): AdministratorsService {
  return {
    list: (caller, page) => listAdministrators(deps.db, caller.accountId, page),
    setRoles(caller, personId, roles) {
      return changeRights(deps, caller, async (tx, limit) => {
        const before = await requireAdministrator(tx, caller.accountId, personId);
        const roleIds = await resolveRoles(tx, caller.accountId, roles);
        const heldIds = await resolveRoles(tx, caller.accountId, before.roles);
        await limit(tx, [
          ...roleIds.filter((id) => !heldIds.includes(id)),
          ...heldIds.filter((id) => !roleIds.includes(id)),
        ]);
        await replaceRoles(tx, caller.accountId, personId, roleIds);
        await requireGlobalAdmin(tx, caller.accountId);
        const after = await requireAdministrator(tx, caller.accountId, personId);
        const message = `Changed the roles of ${after.name} from ${before.roles.join(', ')} to ${after.roles.join(', ')}`;
        await recordEvent(tx, caller, eventOf(after, message));
        return after;
      });
    },
    remove(caller, personId) {
      return changeRights(deps, caller, async (tx, limit) => {
        const person = await requireAdministrator(tx, caller.accountId, personId);
        const isSelf = personId === caller.personId;
        if (!isSelf) await limit(tx, await resolveRoles(tx, caller.accountId, person.roles));
        await deleteMembership(tx, caller.accountId, personId);
        await requireGlobalAdmin(tx, caller.accountId);
        await recordEvent(tx, caller, eventOf(person, `Removed the administrator ${person.name}`));
      });
    },
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

function eventOf(person: AdministratorRow, message: string) {
  return { entityType: 'Administrator' as const, entityId: person.id, entityName: person.name, message };
}
