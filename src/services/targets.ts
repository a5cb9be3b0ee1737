import { DomainError, type ErrorDetail } from '../domain/errors.ts';
import type { Permission } from '../domain/permissions.ts';
import { checkTargets } from '../persistence/repositories/targets.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import type { Caller } from './ports.ts';

/**
 * Makes sure that the caller may act on every one of some computers.
 *
 * @param permission - what acting on each of them needs
 * @param options.archived - `allowed` for what only reads
 * @throws {DomainError} UnknownComputer when one is missing, pending, foreign or out of sight; else Forbidden when one
 * may be seen but not acted on; else ComputerArchived
 * @see api-decisions 1.2, 3.3 and 9.4
 */
export async function requireTargets(
  db: Sql,
  caller: Caller,
  computers: readonly number[],
  permission: Permission,
  options: { archived?: 'allowed' } = {},
): Promise<void> {
  const scope = { view: caller.groups('ViewComputer'), act: caller.groups(permission) };
  const { unknown, forbidden, archived } = await checkTargets(db, caller.accountId, computers, scope);
  if (unknown.length > 0) {
    const details = detailsOf(unknown, 'there is no such computer');
    throw new DomainError('UnknownComputer', `There is no computer ${unknown[0]}`, { details });
  }
  if (forbidden.length > 0) {
    const details = detailsOf(forbidden, 'you may not act on this computer');
    throw new DomainError('Forbidden', `You may not act on computer ${forbidden[0]}`, { details });
  }
  if (archived.length > 0 && options.archived !== 'allowed') {
    const details = detailsOf(archived, 'the computer is archived');
    throw new DomainError('ComputerArchived', `Computer ${archived[0]} is archived`, { details });
  }
}

function detailsOf(ids: readonly number[], message: string): ErrorDetail[] {
  return ids.map((id) => ({ id, message }));
}
