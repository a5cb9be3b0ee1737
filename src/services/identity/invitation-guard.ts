import { DomainError } from '../../domain/common/errors.ts';
import { rateLimitKey } from '../common/token-buckets.ts';
import { digestName, type LoginThrottle } from './login/login-throttle.ts';

/** Bounds how often secret ids of invitations can be tried, by the same numbers as failed logins. */
export interface InvitationGuard {
  /**
   * Runs `attempt` and counts it when it finds no invitation, or a login with one fails: both alike, as their numbers
   * would otherwise tell names that exist from those that do not.
   *
   * @param by - the person who tries; null where nobody is logged in: then the address alone counts
   * @throws {DomainError} TooManyRequests before anything is looked up, and whatever `attempt` throws
   */
  guard<T>(by: { personId: number | null; address: string }, attempt: () => Promise<T>): Promise<T>;
}

/** Also what a login with an invitation says of an address that is nobody's, or was somebody's. */
const FAILURES: ReadonlySet<string> = new Set([
  'UnknownInvitation',
  'AuthenticationFailed',
  'InvalidParameter',
  'DuplicateEmail',
]);

export function createInvitationGuard(deps: { throttle: LoginThrottle }): InvitationGuard {
  const { throttle } = deps;
  return {
    async guard({ personId, address }, attempt) {
      // No login name contains U+0000, so neither kind of failure counts as the other.
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
    },
  };
}
