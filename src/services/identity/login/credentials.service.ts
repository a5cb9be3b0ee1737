import { DomainError } from '../../../domain/common/errors.ts';
import { parseInstant } from '../../../domain/common/instant.ts';
import {
  accessKeyNames,
  deleteAccessKey,
  insertAccessKey,
  listAccessKeys,
} from '../../../persistence/identity/access-keys.repository.ts';
import { findIdentity, findMembership } from '../../../persistence/identity/people.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { digestSecret, newAccessKey } from './access-keys.ts';
import { lockCaller } from '../current-person.ts';
import { readLine, fieldError } from '../../common/fields.ts';
import type { Hashing } from '../../common/hashing.ts';
import { record } from '../record.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { countWrongPassword, requireOwnPassword } from './password-change.service.ts';
import { normalisePassword } from './passwords.ts';
import type { Caller, Clock, IdentityAuthenticator } from '../../common/ports.ts';

/** An access key of the person, or an account without one; the secret only of a key that was just created. */
export type Credential = Awaited<ReturnType<typeof listAccessKeys>>[number] & { secretKey: string | null };

interface NewCredential {
  accountName: string;
  /** The caller's own password; checked by PAM if they logged in with it. */
  password: string;
  /** Null: `Access key`, with a number if that is taken. */
  name: string | null;
  /** ISO 8601; null: the key does not expire. */
  expiresAt: string | null;
}

interface CredentialsDeps {
  db: Database;
  clock: Clock;
  hashing: Hashing;
  throttle: LoginThrottle;
  /** Checks logins by identity; null: checked against the stored hash. */
  identities: IdentityAuthenticator | null;
}

const MAX_KEYS = 50;
const DEFAULT_NAME = 'Access key';

export function createCredentialsService(deps: CredentialsDeps) {
  const { db } = deps;
  return {
    /** The own access keys, without their secrets. */
    async list(caller: Caller): Promise<Credential[]> {
      const keys = await listAccessKeys(db, caller.personId);
      return keys.map((key) => ({ ...key, secretKey: null }));
    },
    /**
     * @throws {DomainError} AuthenticationFailed when the password is wrong or not set; Forbidden for other people's
     * accounts; InvalidParameter, DuplicateAccessKey, AccessKeyLimitReached; TooManyRequests, ServiceUnavailable
     */
    async create(caller: Caller, { accountName, ...wanted }: NewCredential): Promise<Credential> {
      const { personId } = caller;
      const creationTime = deps.clock.now();
      const wantedName = wanted.name === null ? null : readLine('body.name', wanted.name);
      const expiresAt = wanted.expiresAt === null ? null : readExpiry(wanted.expiresAt, creationTime);
      await requirePassword(deps, caller, normalisePassword(wanted.password));
      return db.transaction(async (tx) => {
        await lockCaller(tx, caller);
        const account = await findMembership(tx, personId, accountName);
        if (!account) throw new DomainError('Forbidden', 'This person does not belong to that account');
        const { accountId, title: accountTitle } = account;
        const name = chooseName(wantedName, await accessKeyNames(tx, personId, accountId));
        const { accessKey, secretKey } = newAccessKey();
        const key = { accessKey, name, creationTime, expiresAt };
        insertAccessKey(tx, { ...key, accountId, personId, secretDigest: digestSecret(secretKey) });
        await recordKey(tx, caller, accountId, `Made the access key ${name}`);
        return { ...key, accountName, accountTitle, lastUsedAt: null, secretKey };
      });
    },
    /** Removes an access key and ends the tokens obtained with it. @throws {DomainError} UnknownAccessKey */
    remove: (caller: Caller, accessKey: string) =>
      db.transaction(async (tx) => {
        await lockCaller(tx, caller);
        const removed = await deleteAccessKey(tx, caller.personId, accessKey);
        if (!removed) throw new DomainError('UnknownAccessKey', 'There is no such access key');
        await recordKey(tx, caller, removed.accountId, `Removed the access key ${removed.name}`);
      }),
  };
}

/** People who logged in by PAM, or have no stored password, use their PAM password. */
async function requirePassword(deps: CredentialsDeps, caller: Caller, password: string): Promise<void> {
  const { identities, throttle } = deps;
  const person = await findIdentity(deps.db, caller.personId);
  if (identities === null || !person || !(caller.token.method === 'pam' || person.storedHash === null)) {
    return deps.hashing.run({ personId: caller.personId }, () => requireOwnPassword(deps, caller, password));
  }
  const check = () => identities.verify({ ...person, password, address: caller.origin.address });
  await countWrongPassword(throttle, caller, person.identity, check);
}

function chooseName(wanted: string | null, taken: readonly string[]): string {
  if (taken.length >= MAX_KEYS) {
    throw new DomainError('AccessKeyLimitReached', `A person has at most ${MAX_KEYS} access keys for an account`);
  }
  if (wanted !== null) {
    if (!taken.includes(wanted)) return wanted;
    throw new DomainError('DuplicateAccessKey', 'An access key with this name already exists for the account');
  }
  let name = DEFAULT_NAME;
  for (let number = 2; taken.includes(name); number += 1) name = `${DEFAULT_NAME} ${number}`;
  return name;
}

function readExpiry(text: string, now: Date): Date {
  const path = 'body.expires_at';
  const expiresAt = parseInstant(text);
  if (!expiresAt) throw fieldError(path, 'must be an ISO 8601 date and time');
  if (expiresAt <= now) throw fieldError(path, 'must be in the future');
  return expiresAt;
}

function recordKey(tx: Sql, caller: Caller, accountId: number, message: string): Promise<void> {
  return record(tx, { ...caller, accountId }, 'Credentials', { id: caller.personId, name: caller.name }, message);
}
