import { DomainError } from '../../../domain/common/errors.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { deleteAccessKeys } from '../../../persistence/identity/access-keys.repository.ts';
import { deleteLoginFailures, findLoginAccounts, findLoginPerson } from '../../../persistence/identity/logins.sql.ts';
import { replacePassword } from '../../../persistence/identity/rights.repository.ts';
import type { PasswordPolicy } from '../../../process/config.ts';
import type { Caller } from '../../common/ports.ts';
import { lockCaller } from '../current-person.ts';
import { record } from '../record.ts';
import type { LoginDeps } from './login.service.ts';
import { digestName, type LoginThrottle } from './login-throttle.ts';
import { checkNewPassword, hashPassword, normalisePassword, verifyPassword } from './passwords.ts';

type PasswordDeps = Pick<LoginDeps, 'db' | 'hashing' | 'throttle' | 'authenticator' | 'passwords'>;

const NEW_PASSWORD = 'body.new_password';

export function createPasswordService(deps: PasswordDeps) {
  return {
    /**
     * Revokes all tokens of the caller and, unless `keepAccessKeys` is set, all access keys.
     * @throws {DomainError} InvalidParameter, AuthenticationFailed, TooManyRequests, ServiceUnavailable
     */
    async change(caller: Caller, change: { password: string; newPassword: string; keepAccessKeys: boolean }) {
      const { personId } = caller;
      const password = normalisePassword(change.password);
      const newPassword = normalisePassword(change.newPassword, NEW_PASSWORD);
      checkNewPassword(newPassword, deps.passwords, [caller.email, caller.name, caller.accountName], NEW_PASSWORD);
      const passwordHash = await deps.hashing.run({ personId }, async () => {
        await requireOwnPassword(deps, caller, password);
        return hashPassword(newPassword);
      });
      await deps.db.transaction(async (tx) => {
        const { name } = await lockCaller(tx, caller);
        await replacePassword(tx, personId, passwordHash);
        const keys = change.keepAccessKeys ? 0 : await deleteAccessKeys(tx, personId);
        const message = `Changed their own password${keys > 0 ? ' and ended all their access keys' : ''}`;
        await record(tx, caller, 'Person', { id: personId, name }, message);
      });
      deps.authenticator.invalidate({ personId });
    },
  };
}

/** Failures count as failed logins. Call it in `Hashing.run`. @throws AuthenticationFailed, TooManyRequests */
export async function requireOwnPassword(
  { db, throttle }: { db: Sql; throttle: LoginThrottle },
  caller: Caller,
  password: string,
): Promise<void> {
  const person = await findLoginPerson(db, { id: caller.personId });
  const check = () => verifyPassword(password, person?.password_hash ?? null);
  await countWrongPassword(throttle, caller, person?.email ?? caller.email, check);
}

/** @param check - whether the caller's password is right @throws {DomainError} AuthenticationFailed, TooManyRequests */
export async function countWrongPassword(
  throttle: LoginThrottle,
  { origin: { address } }: Caller,
  name: string,
  check: () => Promise<boolean>,
): Promise<void> {
  const nameDigest = digestName(name);
  await throttle.check(nameDigest, address);
  if (await check()) return;
  await throttle.fail(nameDigest, address);
  throw new DomainError('AuthenticationFailed', 'The current password is wrong');
}

const CONSOLE = {
  personId: null,
  name: 'npm run reset-password',
  origin: { address: 'console', requestId: 'reset-password' },
};

/**
 * For operators. Revokes all tokens and, unless kept, access keys, and clears failed logins. Returns the stored
 * address. @throws {DomainError} NotFound when no person has the address, InvalidParameter for the password
 */
export async function resetPassword(
  db: Database,
  wanted: { email: string; password: string; policy: PasswordPolicy; keepAccessKeys: boolean },
): Promise<string> {
  const { policy, keepAccessKeys } = wanted;
  const email = wanted.email.trim();
  const password = normalisePassword(wanted.password);
  const person = await findLoginPerson(db, { email });
  if (!person) throw new DomainError('NotFound', `Nobody has the email address ${email}`);
  checkNewPassword(password, policy, [person.email, person.name]);
  const passwordHash = await hashPassword(password);
  await db.transaction(async (tx) => {
    await replacePassword(tx, person.id, passwordHash);
    const keys = keepAccessKeys ? 0 : await deleteAccessKeys(tx, person.id);
    await deleteLoginFailures(tx, digestName(person.email));
    const message = `Reset the password from the command line${keys > 0 ? ' and ended all access keys' : ''}`;
    const accounts = await findLoginAccounts(tx, person.id);
    for (const accountId of accounts.length > 0 ? accounts.map(({ id }) => id) : [0]) {
      await record(tx, { ...CONSOLE, accountId }, 'Person', person, message);
    }
  });
  return person.email;
}
