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
 * Runs `attempt` and counts unknown invitations and failed logins as failed logins, alike: that reveals no names.
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
