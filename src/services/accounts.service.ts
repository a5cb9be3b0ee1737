import { randomInt } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { ADMINISTRATOR_ROLE, SEED_ROLES } from '../domain/permissions.ts';
import type { Persistence } from '../persistence/orm.ts';
import {
  type AccountRow,
  accountExists,
  findAccount,
  insertAccountWithAdministrator,
} from '../persistence/repositories/accounts.repository.ts';
import type { Database } from '../persistence/sql.ts';
import type { BoundedQueue } from './bounded-queue.ts';
import { checkNewPassword, hashPassword, normalisePassword } from './passwords.ts';

/** Name and title of the one account of a self-hosted deployment. @see api-decisions 11.1 */
const STANDALONE = { name: 'standalone', title: 'Organization' };
const MAX_EMAIL = 254;
const MAX_NAME = 255;

export interface NewAdministrator {
  email: string;
  name: string;
  password: string;
}

export interface AccountsService {
  /** Tells whether the standalone account exists. */
  standaloneExists(): Promise<boolean>;
  /**
   * Makes the standalone account with its first administrator; computers need the generated registration key to ask
   * for enrolment and wait to be accepted.
   *
   * @throws {DomainError} StandaloneAccountExists, InvalidParameter
   * @see API specification, "Accounts and message backlog"
   */
  createStandalone(administrator: NewAdministrator, enforceStrength: boolean): Promise<AccountRow>;
}

export function createAccountsService(deps: { db: Database; hashing: BoundedQueue }): AccountsService {
  return {
    standaloneExists: () => accountExists(deps.db, STANDALONE.name),
    async createStandalone(administrator, enforceStrength) {
      const person = checkAdministrator(administrator, enforceStrength);
      // Before any hash work, so that a made account cannot be used to burn processor time.
      if (await accountExists(deps.db, STANDALONE.name)) throw alreadyExists();
      const passwordHash = await deps.hashing.run(() => hashPassword(person.password));
      const { accountId } = await insert(deps.db, { ...person, passwordHash }, false, registrationKey());
      return (await findAccount(deps.db, accountId))!;
    },
  };
}

/**
 * Makes the standalone account with its access group, roles and first administrator in one transaction.
 *
 * @param options.registrationKey - what agents must present; null lets every agent ask for enrolment
 * @throws {DomainError} StandaloneAccountExists (of two calls at once exactly one succeeds), InvalidParameter
 */
export async function createStandaloneAccount(
  persistence: Persistence,
  options: NewAdministrator & { autoRegister: boolean; registrationKey: string | null },
): Promise<{ accountId: number; personId: number }> {
  const person = checkAdministrator(options, false);
  const passwordHash = await hashPassword(person.password);
  return insert(persistence.db, { ...person, passwordHash }, options.autoRegister, options.registrationKey);
}

async function insert(
  db: Database,
  person: { email: string; name: string; passwordHash: string },
  autoRegister: boolean,
  key: string | null,
): Promise<{ accountId: number; personId: number }> {
  const account = { ...STANDALONE, autoRegister, registrationKey: key };
  const roles = { all: SEED_ROLES, administrator: ADMINISTRATOR_ROLE };
  const made = await insertAccountWithAdministrator(db, account, person, roles);
  if (!made) throw alreadyExists();
  return made;
}

function checkAdministrator(given: NewAdministrator, enforceStrength: boolean): NewAdministrator {
  const email = given.email.trim();
  if (email.length > MAX_EMAIL || !/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email)) {
    throw refused('body.email', 'must be an email address');
  }
  const name = given.name.trim();
  if (name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name)) {
    throw refused('body.name', `must be one line of 1 to ${MAX_NAME} characters`);
  }
  const password = normalisePassword(given.password);
  checkNewPassword(password, enforceStrength);
  return { email, name, password };
}

const KEY_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const KEY_LENGTH = 24;

function registrationKey(): string {
  return Array.from({ length: KEY_LENGTH }, () => KEY_ALPHABET[randomInt(KEY_ALPHABET.length)]).join('');
}

function alreadyExists(): DomainError {
  return new DomainError('StandaloneAccountExists', 'The standalone account exists already');
}

function refused(path: string, message: string): DomainError {
  return new DomainError('InvalidParameter', `${path} ${message}`, { details: [{ path, message }] });
}
