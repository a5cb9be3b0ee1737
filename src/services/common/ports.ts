import type { Origin } from '../../domain/events/events.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { FileDraft, FoundFile, StoredFile } from '../../persistence/common/stored-files.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';

export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * The person and account that a token stands for, with their current rights.
 * @see docs/api-conventions.md#access-groups-as-scope
 */
export interface Principal {
  token: TokenFacts;
  personId: number;
  email: string;
  name: string;
  accountId: number;
  accountName: string;
  /** Whether the caller holds a global permission, or a group permission in at least one access group. */
  may(permission: Permission): boolean;
  /** Access groups (descendants included) where the permission holds; `all` means the whole account, unfiltered. */
  groups(permission: Permission): 'all' | readonly number[];
}

/** Counters copied into a token: incrementing one of them ends every token issued before. @see docs/api-conventions.md#tokens */
export interface Epochs {
  person: number;
  account: number;
  system: number;
  /** Number of the person's membership in the account; absent without one, and in tokens of older builds. */
  membership?: number | undefined;
}

/** How somebody logs in: with a stored password, a password checked by PAM, or an access key. */
export const AUTH_METHODS = ['pwd', 'pam', 'key'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** Identifies a token. The object stays the same as long as the rights read with it count as fresh. */
export interface TokenFacts {
  id: string;
  /** Id of its session; a logout ends all tokens of it. */
  family: string;
  method: AuthMethod;
  /** The access key it was obtained with; null for none. It ends with the key. */
  accessKey: string | null;
  /** Seconds since the epoch. */
  expiresAt: number;
  epochs: Epochs;
}

/** The client of a request. Scopes every query of a service; every event names it. */
export interface Caller extends Principal {
  origin: Origin;
}

/** Used by `/readyz` only, never by a request that acts. */
export interface TemporalHealth {
  /** Resolves when Temporal serves our namespace and a worker polls the queue; rejects with a reason otherwise. */
  check(): Promise<void>;
}

/** Checks logins by identity. @see docs/api-conventions.md#login */
export interface IdentityAuthenticator {
  /**
   * Whether the password belongs to the login name.
   * @param login.address - of the client: clients take turns
   * @param login.storedHash - hash of the person with that name; null for none: the same work is done
   * @throws {DomainError} ServiceUnavailable when it cannot be checked now; that does not count as a failed login
   */
  verify(login: { identity: string; password: string; storedHash: string | null; address: string }): Promise<boolean>;
}

/** A mail in plain text to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** False without a mail server: `send` always fails. */
  readonly isOn: boolean;
  /** @throws {DomainError} MailQueueUnavailable when the mail could not be queued within some seconds */
  send(mail: Mail): Promise<void>;
}

/** Files by their key; a key is never opened as a path. */
export interface FileStore {
  /**
   * Stores a file under a key that its account has not used.
   * @param tx - transaction that also writes the reference to the file. A store outside the database writes before the
   * commit; what a rollback leaves behind is unreferenced
   */
  put(tx: Sql, file: StoredFile): Promise<void>;
  /**
   * The content of a file of an account, or null.
   * @param sql - a transaction, if there is one: it sees its own files and needs no second connection
   */
  read(sql: Sql, accountId: number, key: string): Promise<string | null>;
  /** Opens a file of an account for reading in chunks; null when there is none. */
  open(accountId: number, key: string): Promise<OpenFile | null>;
  /**
   * Starts a file that is written in chunks and cannot be found before it is published.
   * @param tx - writes the chunks; a rollback removes them
   */
  draft(tx: Sql, draft: FileDraft): Promise<DraftFile>;
  /** Removes the drafts of an activity, which cannot be published afterwards. */
  discard(sql: Sql, activityId: number): Promise<void>;
}

export interface OpenFile extends FoundFile {
  /** No chunk splits a character. Throws when the file is removed meanwhile. */
  chunks(): AsyncIterable<Buffer>;
}

/** A file being written. It no longer exists once it is discarded or its transaction rolled back. */
export interface DraftFile {
  /**
   * Adds UTF-8 text without split characters. The buffer may be reused afterwards.
   * @throws when the draft no longer exists
   */
  append(chunk: Buffer): Promise<void>;
  /**
   * Gives the file its key, once its chunks are committed. A file that had the key loses it, but whoever has opened that
   * file can read it to its end.
   * @returns its id
   * @throws when the draft no longer exists
   */
  publish(tx: Sql, key: string, now: Date): Promise<number>;
}

export { isDatabaseUnavailable } from '../../persistence/database/errors.ts';
