import { DomainError } from '../../../domain/common/errors.ts';
import { findLoginPerson } from '../../../persistence/identity/logins.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { digestName, type LoginThrottle } from './login-throttle.ts';
import { verifyPassword } from './passwords.ts';
import type { Caller } from '../../common/ports.ts';

/**
 * Requires the caller's stored password, not just a token. Failures count as failed logins. Call it in `Hashing.run`.
 * @param password - normalised
 * @throws {DomainError} AuthenticationFailed, TooManyRequests
 */
export async function requireOwnPassword(
  deps: { db: Sql; throttle: LoginThrottle },
  caller: Caller,
  password: string,
): Promise<void> {
  const { address } = caller.origin;
  const person = await findLoginPerson(deps.db, { id: caller.personId });
  const nameDigest = digestName(person?.email ?? caller.email);
  await deps.throttle.check(nameDigest, address);
  if (await verifyPassword(password, person?.password_hash ?? null)) return;
  await deps.throttle.fail(nameDigest, address);
  throw wrongPassword();
}

export function wrongPassword(): DomainError {
  return new DomainError('AuthenticationFailed', 'The current password is wrong');
}
