import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { Caller } from '../common/ports.ts';

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
