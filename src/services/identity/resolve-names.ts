import { DomainError } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import { findAccessGroupIds } from '../../persistence/identity/access-groups.repository.ts';
import { findRoleIds } from '../../persistence/identity/roles.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { quoted } from '../common/fields.ts';
import { requireIn } from './group-rights.ts';
import type { Caller } from '../common/ports.ts';

/** Distinct ids of the roles in a request body. @throws {DomainError} UnknownRole (400) with every unknown name */
export async function resolveRoles(sql: Sql, accountId: number, names: readonly string[]): Promise<number[]> {
  const wanted = [...new Set(names)];
  const found = await findRoleIds(sql, accountId, wanted);
  const unknown = wanted.filter((name) => !found.has(name));
  if (unknown.length > 0) {
    throw new DomainError('UnknownRole', `There is no role ${quoted(unknown[0]!)}`, {
      namedInBody: true,
      details: unknown.map((name) => ({ path: 'body.roles', message: `there is no role ${quoted(name)}` })),
    });
  }
  return [...found.values()];
}

/**
 * Distinct ids of the access groups named in a request body.
 * @param path - of the field that names them
 * @throws {DomainError} UnknownAccessGroup (400) with every unknown name
 */
export async function resolveAccessGroups(
  sql: Sql,
  accountId: number,
  names: readonly string[],
  path: string,
): Promise<number[]> {
  const wanted = [...new Set(names)];
  const found = await findAccessGroupIds(sql, accountId, wanted);
  const unknown = wanted.filter((name) => !found.has(name));
  if (unknown.length > 0) {
    throw new DomainError('UnknownAccessGroup', `There is no access group ${quoted(unknown[0]!)}`, {
      namedInBody: true,
      details: unknown.map((name) => ({ path, message: `there is no access group ${quoted(name)}` })),
    });
  }
  return [...found.values()];
}

/**
 * Id of the target access group in a request body.
 * @param needed - permissions the caller must have in that group
 * @throws {DomainError} UnknownAccessGroup (400), Forbidden
 */
export async function requireAccessGroup(
  sql: Sql,
  caller: Caller,
  name: string,
  needed: readonly Permission[],
): Promise<number> {
  const [groupId] = await resolveAccessGroups(sql, caller.accountId, [name], 'body.access_group');
  requireIn(caller, needed, groupId!, 'the access group');
  return groupId!;
}
