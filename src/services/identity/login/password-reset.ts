import type { PasswordPolicy } from '../../../process/config.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { deleteAccessKeys } from '../../../persistence/identity/access-keys.repository.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import {
  findLoginAccounts,
  findLoginPerson,
  deleteLoginFailures,
} from '../../../persistence/identity/logins.repository.ts';
import { replacePassword } from '../../../persistence/identity/people.repository.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import { digestName } from './login-throttle.ts';
import { checkNewPassword, hashPassword, normalisePassword } from './passwords.ts';

/**
 * Sets a new password, revokes all tokens of the person and, unless `keepAccessKeys` is set, all access keys, and
 * clears their failed logins. For operators on the command line; recorded as an event in each of the person's accounts.
 * @param wanted.policy - rules for new passwords
 * @returns the person's address as stored
 * @throws {DomainError} NotFound when no person has the address, InvalidParameter for the password
 */
export async function resetPassword(
  db: Database,
  wanted: { email: string; password: string; policy: PasswordPolicy; keepAccessKeys: boolean },
): Promise<string> {
  const { email, password, policy, keepAccessKeys } = wanted;
  const normal = normalisePassword(password);
  const person = await findLoginPerson(db, { email: email.trim() });
  if (!person) throw new DomainError('NotFound', `Nobody has the email address ${email.trim()}`);
  checkNewPassword(normal, policy, [person.email, person.name]);
  const passwordHash = await hashPassword(normal);
  await db.transaction(async (tx) => {
    await replacePassword(tx, person.id, passwordHash);
    const keys = keepAccessKeys ? 0 : await deleteAccessKeys(tx, person.id);
    await deleteLoginFailures(tx, digestName(person.email));
    const accounts = await findLoginAccounts(tx, person.id);
    for (const accountId of accounts.length > 0 ? accounts.map(({ id }) => id) : [0]) {
      await recordEvent(
        tx,
        { ...CONSOLE, accountId },
        {
          entityType: 'Person',
          entityId: person.id,
          entityName: person.name,
          message: `Reset the password from the command line${keys > 0 ? ' and ended all access keys' : ''}`,
        },
      );
    }
  });
  return person.email;
}

const CONSOLE = {
  personId: null,
  name: 'npm run reset-password',
  origin: { address: 'console', requestId: 'reset-password' },
};
