import { DomainError } from '../../../domain/common/errors.ts';
import { parseInstant } from '../../../domain/common/instant.ts';
import {
  type AccessKeyRow,
  accessKeyNames,
  deleteAccessKey,
  insertAccessKey,
  listAccessKeys,
} from '../../../persistence/identity/access-keys.repository.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import { findIdentity } from '../../../persistence/identity/logins.repository.ts';
import { findMembership } from '../../../persistence/identity/people.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { digestSecret, newAccessKey } from './access-keys.ts';
import { lockCaller } from '../current-person.ts';
import { readLine, fieldError } from '../../common/fields.ts';
import type { Hashing } from '../../common/hashing.ts';
import { digestName, type LoginThrottle } from './login-throttle.ts';
import { requireOwnPassword, wrongPassword } from './own-password.ts';
import { normalisePassword } from './passwords.ts';
import type { Caller, Clock, IdentityAuthenticator } from '../../common/ports.ts';

/** An access key of the person, or an account without one. */
export interface Credential {
  accountName: string;
  accountTitle: string;
  key: AccessKeyRow | null;
  /** Only set when the key is created. */
  secretKey: string | null;
}

export interface NewCredential {
  accountName: string;
  /** The caller's own password; checked by PAM if they logged in with it. */
  password: string;
  /** Null: `Access key`, with a number if that is taken. */
  name: string | null;
  /** ISO 8601; null: the key does not expire. */
  expiresAt: string | null;
}

export interface CredentialsService {
  /** Access keys by account; secrets are stored as digests and shown only once. */
  list(caller: Caller): Promise<Credential[]>;
  /**
   * Creates another access key of the person for an account.
   * @throws {DomainError} AuthenticationFailed when the password is wrong or not set; Forbidden for other people's
   * accounts; InvalidParameter, DuplicateAccessKey, AccessKeyLimitReached; TooManyRequests, ServiceUnavailable
   */
  create(caller: Caller, wanted: NewCredential): Promise<Credential>;
  /** Removes an access key and ends the tokens obtained with it. @throws {DomainError} UnknownAccessKey */
  remove(caller: Caller, accessKey: string): Promise<void>;
}

export interface CredentialsDeps {
  db: Database;
  clock: Clock;
  hashing: Hashing;
  throttle: LoginThrottle;
  /** Checks logins by identity; null: checked against the stored hash. */
  identities: IdentityAuthenticator | null;
}

/** Per person and account. */
const MAX_KEYS = 50;
const DEFAULT_NAME = 'Access key';

export function createCredentialsService(deps: CredentialsDeps): CredentialsService {
  return {
    async list(caller) {
      const rows = await listAccessKeys(deps.db, caller.personId);
      return rows.map(({ accountName, accountTitle, ...key }) => {
        return { accountName, accountTitle, key: key.accessKey === null ? null : key, secretKey: null };
      });
    },
    async create(caller, wanted) {
      const now = deps.clock.now();
      const key = {
        name: wanted.name === null ? null : readLine('body.name', wanted.name),
        expiresAt: wanted.expiresAt === null ? null : readExpiry(wanted.expiresAt, now),
        at: now,
      };
      await requirePassword(deps, caller, normalisePassword(wanted.password));
      return deps.db.transaction((tx) => create(tx, caller, wanted.accountName, key));
    },
    remove: (caller, accessKey) =>
      deps.db.transaction(async (tx) => {
        await lockCaller(tx, caller);
        const removed = await deleteAccessKey(tx, caller.personId, accessKey);
        if (!removed) throw new DomainError('UnknownAccessKey', 'There is no such access key');
        await record(tx, caller, removed.accountId, `Removed the access key ${removed.name}`);
      }),
  };
}

/** People who logged in by PAM, or have no stored password, use their PAM password. */
async function requirePassword(deps: CredentialsDeps, caller: Caller, password: string): Promise<void> {
  const person = await findIdentity(deps.db, caller.personId);
  if (deps.identities === null || !person || !(caller.token.method === 'pam' || person.storedHash === null)) {
    return deps.hashing.run({ personId: caller.personId }, () => requireOwnPassword(deps, caller, password));
  }
  const { address } = caller.origin;
  const nameDigest = digestName(person.identity);
  await deps.throttle.check(nameDigest, address);
  if (await deps.identities.verify({ ...person, password, address })) return;
  await deps.throttle.fail(nameDigest, address);
  throw wrongPassword();
}

async function create(
  tx: Sql,
  caller: Caller,
  accountName: string,
  given: { name: string | null; expiresAt: Date | null; at: Date },
): Promise<Credential> {
  await lockCaller(tx, caller);
  const { personId } = caller;
  const account = await findMembership(tx, personId, accountName);
  if (!account) throw new DomainError('Forbidden', 'This person does not belong to that account');
  const { accountId, title: accountTitle } = account;
  const name = chooseName(given.name, await accessKeyNames(tx, personId, accountId));
  const { accessKey, secretKey } = newAccessKey();
  const { at, expiresAt } = given;
  await insertAccessKey(tx, {
    accessKey,
    accountId,
    personId,
    name,
    secretDigest: digestSecret(secretKey),
    creationTime: at,
    expiresAt,
  });
  await record(tx, caller, accountId, `Made the access key ${name}`);
  const key = { accessKey, name, creationTime: at, expiresAt, lastUsedAt: null };
  return { accountName, accountTitle, key, secretKey };
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

function record(tx: Sql, caller: Caller, accountId: number, message: string): Promise<void> {
  const { personId, name } = caller;
  return recordEvent(
    tx,
    { ...caller, accountId },
    { entityType: 'Credentials', entityId: personId, entityName: name, message },
  );
}
