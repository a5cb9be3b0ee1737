import { DomainError } from '../../domain/common/errors.ts';
import { rateLimitKey } from '../../process/client-address.ts';
import { digestName, type LoginThrottle } from './login/login-throttle.ts';

/** Includes the errors of a login with an invitation whose address is unknown or was used before. */
const FAILURES: ReadonlySet<string> = new Set([
  'UnknownInvitation',
  'AuthenticationFailed',
  'InvalidParameter',
  'DuplicateEmail',
]);

/**
 * Limits guesses of secret invitation ids like failed logins: runs `attempt` and counts it when it finds no invitation
 * or its login fails: alike, so as not to reveal names.
 * @param by - the client, counted by person or else by address
 * @throws {DomainError} TooManyRequests before any lookup, and what `attempt` throws
 */
export async function guardInvitation<T>(
  throttle: LoginThrottle,
  { personId, address }: { personId: number | null; address: string },
  attempt: () => Promise<T>,
): Promise<T> {
  // No login name contains U+0000, so these keys never collide with names.
  const key = digestName(
    personId === null ? `\0invitation at ${rateLimitKey(address)}` : `\0invitation by ${personId}`,
  );
  await throttle.check(key, address);
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof DomainError && FAILURES.has(error.code)) await throttle.fail(key, address);
    throw error;
  }
}
