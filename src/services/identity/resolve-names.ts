import { DomainError, type ErrorCode } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import { AccessGroup } from '../../persistence/identity/access-group.entity.ts';
import { Role } from '../../persistence/identity/role.entity.ts';
import { findIdsByName } from '../../persistence/identity/roles.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { quoted } from '../common/fields.ts';
import { requireIn } from './group-rights.ts';
import type { Caller } from '../common/ports.ts';

/** Distinct ids of the roles in a request body. @throws {DomainError} UnknownRole (400) with every unknown name */
export function resolveRoles(sql: Sql, accountId: number, names: readonly string[]): Promise<number[]> {
  return resolve(sql, accountId, names, { entity: Role, code: 'UnknownRole', what: 'role', path: 'body.roles' });
}

/** Distinct ids; `path`: the field of the body. @throws UnknownAccessGroup (400) with every unknown name */
export function resolveAccessGroups(sql: Sql, accountId: number, names: readonly string[], path: string) {
  const kind = { entity: AccessGroup, code: 'UnknownAccessGroup', what: 'access group', path } as const;
  return resolve(sql, accountId, names, kind);
}

async function resolve(
  sql: Sql,
  accountId: number,
  names: readonly string[],
  kind: { entity: typeof Role | typeof AccessGroup; code: ErrorCode; what: string; path: string },
): Promise<number[]> {
  const { entity, code, what, path } = kind;
  const wanted = [...new Set(names)];
  const found = await findIdsByName(sql, entity, accountId, wanted);
  const unknown = wanted.filter((name) => !found.has(name));
  if (unknown.length > 0) {
    throw new DomainError(code, `There is no ${what} ${quoted(unknown[0]!)}`, {
      namedInBody: true,
      details: unknown.map((name) => ({ path, message: `there is no ${what} ${quoted(name)}` })),
    });
  }
  return [...found.values()];
}

/** Id of the group in a body, where the caller must have `needed`. @throws UnknownAccessGroup (400), Forbidden */
export async function requireAccessGroup(sql: Sql, caller: Caller, name: string, needed: readonly Permission[]) {
  const [groupId] = await resolveAccessGroups(sql, caller.accountId, [name], 'body.access_group');
  requireIn(caller, needed, groupId!, 'the access group');
  return groupId!;
}
