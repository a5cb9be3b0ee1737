import type { Origin } from '../../domain/events/events.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { FileDraft, FoundFile, NewFile } from '../../persistence/compliance/stored-files.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';

export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** The person and account of a token, with current rights. @see docs/api-conventions.md#access-groups-as-scope */
export interface Principal {
  token: TokenFacts;
  personId: number;
  email: string;
  name: string;
  accountId: number;
  accountName: string;
  /** Whether the caller has a global permission, or a group permission in at least one access group. */
  may(permission: Permission): boolean;
  /** Access groups (including descendants) where the permission applies; `all` means the whole account, unfiltered. */
  groups(permission: Permission): 'all' | readonly number[];
}

/** Counters copied into a token; an increment revokes all earlier tokens. @see docs/api-conventions.md#tokens */
interface Epochs {
  person: number;
  account: number;
  system: number;
  /** Number of the person's membership in the account; absent without one, and in tokens of older builds. */
  membership?: number | undefined;
}

/** Login methods: stored password, password checked by PAM, or access key. */
export const AUTH_METHODS = ['pwd', 'pam', 'key'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** Identifies a token. The object stays the same as long as the rights read with it are cached. */
export interface TokenFacts {
  id: string;
  /** Id of its session; a logout revokes all tokens of it. */
  family: string;
  method: AuthMethod;
  /** The access key of the login; null for none. Removing the key revokes the token. */
  accessKey: string | null;
  /** Seconds since the epoch. */
  expiresAt: number;
  epochs: Epochs;
}

/** The client of a request. Scopes every query of a service and is recorded in every event. */
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
  /** A null `storedHash` takes equally long. @throws {DomainError} ServiceUnavailable when no check is possible */
  verify(login: { identity: string; password: string; storedHash: string | null; address: string }): Promise<boolean>;
}

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

/** Files by key; a key is never opened as a path. */
export interface FileStore {
  /** Uses a new key. `tx` also writes the reference; external stores leave an unreferenced file on a rollback. */
  put(tx: Sql, file: NewFile): Promise<void>;
  /** The content of an account's file, or null. @param sql - a transaction, if any: it sees its own files */
  read(sql: Sql, accountId: number, key: string): Promise<string | null>;
  /** Opens a file of an account for reading in chunks; null when it does not exist. */
  open(accountId: number, key: string): Promise<OpenFile | null>;
  /** Starts a file in chunks, invisible until published. @param tx - writes the chunks; a rollback removes them */
  draft(tx: Sql, draft: FileDraft): Promise<DraftFile>;
  /** Removes the drafts of an activity, which cannot be published afterwards. */
  discard(sql: Sql, activityId: number): Promise<void>;
}

export interface OpenFile extends FoundFile {
  /** No chunk splits a character. Throws when the file is removed meanwhile. */
  chunks(): AsyncIterable<Buffer>;
}

/** A file being written, until it is discarded or its transaction is rolled back. */
export interface DraftFile {
  /** Adds UTF-8 text without split characters. The buffer may be reused. @throws when the draft no longer exists */
  append(chunk: Buffer): Promise<void>;
  /** Assigns the key once all is committed; open readers of its old file can finish. @throws without the draft */
  publish(tx: Sql, key: string, now: Date): Promise<number>;
}

export { isDatabaseUnavailable } from '../../persistence/database/errors.ts';
