import type { Database } from '../../../persistence/database/sql.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import { deleteAccessKeys } from '../../../persistence/identity/access-keys.repository.ts';
import { replacePassword } from '../../../persistence/identity/people.repository.ts';
import type { PasswordPolicy } from '../../../process/config.ts';
import type { Hashing } from '../../common/hashing.ts';
import type { Caller } from '../../common/ports.ts';
import { lockCaller } from '../current-person.ts';
import type { Authenticator } from './authenticator.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { requireOwnPassword } from './own-password.ts';
import { checkNewPassword, hashPassword, normalisePassword } from './passwords.ts';

export interface PasswordService {
  /**
   * Replaces the caller's password and revokes all their tokens and, unless `keepAccessKeys` is set, all access keys.
   * @throws {DomainError} InvalidParameter, AuthenticationFailed, TooManyRequests, ServiceUnavailable
   * @see docs/api-conventions.md#limits-of-fields
   */
  change(caller: Caller, change: { password: string; newPassword: string; keepAccessKeys: boolean }): Promise<void>;
}

export interface PasswordDeps {
  db: Database;
  hashing: Hashing;
  throttle: LoginThrottle;
  authenticator: Pick<Authenticator, 'invalidate'>;
  passwords: PasswordPolicy;
}

const NEW_PASSWORD = 'body.new_password';

export function createPasswordService(deps: PasswordDeps): PasswordService {
  return {
    async change(caller, change) {
      const password = normalisePassword(change.password);
      const newPassword = normalisePassword(change.newPassword, NEW_PASSWORD);
      checkNewPassword(newPassword, deps.passwords, [caller.email, caller.name, caller.accountName], NEW_PASSWORD);
      const passwordHash = await deps.hashing.run({ personId: caller.personId }, async () => {
        await requireOwnPassword(deps, caller, password);
        return hashPassword(newPassword);
      });
      await deps.db.transaction(async (tx) => {
        const person = await lockCaller(tx, caller);
        await replacePassword(tx, caller.personId, passwordHash);
        const keys = change.keepAccessKeys ? 0 : await deleteAccessKeys(tx, caller.personId);
        await recordEvent(tx, caller, {
          entityType: 'Person',
          entityId: caller.personId,
          entityName: person.name,
          message: `Changed the own password${keys > 0 ? ' and ended all own access keys' : ''}`,
        });
      });
      deps.authenticator.invalidate({ personId: caller.personId });
    },
  };
}
