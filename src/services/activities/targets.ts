import { DomainError, type ErrorDetail } from '../../domain/common/errors.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import { checkTargets, lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/**
 * Checks that the caller may act on computers, and keeps them until the end of `tx`. Call it before locking rows.
 * @throws {DomainError} UnknownComputer when one is missing, pending, of another account or not visible; else
 * Forbidden; else ComputerArchived unless `options.archived` allows it @see docs/api-conventions.md#error-codes
 */
export async function requireTargets(
  tx: Sql,
  caller: Caller,
  computers: readonly number[],
  permission: Permission,
  options: { archived?: 'allowed' } = {},
): Promise<void> {
  await lockFleetShared(tx, caller.accountId);
  const scope = { view: caller.groups('ViewComputer'), act: caller.groups(permission) };
  const { unknown, forbidden, archived } = await checkTargets(tx, caller.accountId, computers, scope);
  if (unknown.length > 0) throw unknownComputers(unknown);
  if (forbidden.length > 0) {
    const details = detailsOf(forbidden, 'you may not act on this computer');
    throw new DomainError('Forbidden', `You may not act on computer ${forbidden[0]}`, { details });
  }
  if (archived.length > 0 && options.archived !== 'allowed') {
    const details = detailsOf(archived, 'the computer is archived');
    throw new DomainError('ComputerArchived', `Computer ${archived[0]} is archived`, { details });
  }
}

/** Includes archived ones. @throws UnknownComputer when one is missing, pending, of another account or not visible */
export async function requireVisible(db: Sql, caller: Caller, computers: readonly number[]): Promise<void> {
  const view = caller.groups('ViewComputer');
  const { unknown } = await checkTargets(db, caller.accountId, computers, { view, act: view });
  if (unknown.length > 0) throw unknownComputers(unknown);
}

function unknownComputers(ids: readonly number[]): DomainError {
  const details = detailsOf(ids, 'there is no such computer');
  return new DomainError('UnknownComputer', `There is no computer ${ids[0]}`, { details });
}

/** Computers that no longer accept operations, or on which the caller lacks `permission`. */
export async function findLostTargets(
  db: Sql,
  caller: Caller,
  computers: readonly number[],
  permission: Permission = 'ManageComputer',
): Promise<Set<number>> {
  const scope = { view: caller.groups('ViewComputer'), act: caller.groups(permission) };
  const distinct = [...new Set(computers)];
  const { unknown, forbidden, archived } = await checkTargets(db, caller.accountId, distinct, scope, null);
  return new Set([...unknown, ...forbidden, ...archived]);
}

function detailsOf(ids: readonly number[], message: string): ErrorDetail[] {
  return ids.map((id) => ({ id, message }));
}
