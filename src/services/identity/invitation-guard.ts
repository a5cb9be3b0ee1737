import { DomainError } from '../../domain/common/errors.ts';
import { digestName, type LoginThrottle } from './login/login-throttle.ts';
import { rateLimitKey } from '../common/token-buckets.ts';

/** Limits guesses of secret invitation ids, by the limits of failed logins. */
export interface InvitationGuard {
  /**
   * Runs `attempt` and counts it when it finds no invitation or a login with one fails. Both count alike, or the counts
   * would reveal which names exist.
   * @param by - the client; without a person its address counts
   * @throws {DomainError} TooManyRequests before anything is looked up, and what `attempt` throws
   */
  guard<T>(by: { personId: number | null; address: string }, attempt: () => Promise<T>): Promise<T>;
}

/** Includes the errors of a login with an invitation whose address is unknown, or was somebody's. */
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
    },
  };
}
