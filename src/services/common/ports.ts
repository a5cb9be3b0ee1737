import type { Origin } from '../../domain/events/events.ts';
import type { Permission } from '../../domain/identity/permissions.ts';
import type { FileDraft, FoundFile, StoredFile } from '../../persistence/common/stored-files.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';

/** Where "now" comes from, so that tests can set it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Who a token stands for, in which account, and what they may do there, from the rights as they are now.
 *
 * @see docs/api-conventions.md#access-groups-as-scope
 */
export interface Principal {
  token: TokenFacts;
  personId: number;
  email: string;
  name: string;
  accountId: number;
  accountName: string;
  /** Tells whether the caller holds a global permission, or a group permission in at least one access group. */
  may(permission: Permission): boolean;
  /** Access groups (descendants included) where the permission holds; `all` means the whole account, unfiltered. */
  groups(permission: Permission): 'all' | readonly number[];
}

/** Counters copied into a token: raising one of them ends every token issued before. @see docs/api-conventions.md#tokens */
export interface Epochs {
  person: number;
  account: number;
  system: number;
  /** Number of the person's membership in the account; absent without one, and in tokens of older builds. */
  membership?: number | undefined;
}

/** How somebody logs in: with a stored password, a password that PAM judges, or an access key. */
export const AUTH_METHODS = ['pwd', 'pam', 'key'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** What identifies one token; one object as long as the rights read with it count as fresh. */
export interface TokenFacts {
  id: string;
  /** Id of the session that it belongs to; a logout ends all of them. */
  family: string;
  method: AuthMethod;
  /** The access key that it was obtained with, and ends with; null for none. */
  accessKey: string | null;
  /** Seconds since the epoch. */
  expiresAt: number;
  epochs: Epochs;
}

/** Who asks. Built once per request; every query of a service is scoped by it, every event names it. */
export interface Caller extends Principal {
  origin: Origin;
}

/** Tells the running parts whether Temporal answers; used by `/readyz` alone, never by a request that acts. */
export interface TemporalHealth {
  /** Resolves when Temporal serves our namespace and a worker polls the queue; rejects with a reason otherwise. */
  check(): Promise<void>;
}

/** Judges logins by identity. @see docs/api-conventions.md#login */
export interface IdentityAuthenticator {
  /**
   * Tells whether the password belongs to the login name.
   *
   * @param login.address - where it comes from: logins take turns by it
   * @param login.storedHash - hash of the person with that name; null when there is none, and the work is the same
   * @throws {DomainError} ServiceUnavailable when it cannot be told now; that is no failed login
   */
  verify(login: { identity: string; password: string; storedHash: string | null; address: string }): Promise<boolean>;
}

/** Mail out of the system. */
/** A mail in plain text to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** Whether there is a mail server; false: `send` always fails. */
  readonly isOn: boolean;
  /** @throws {DomainError} MailQueueUnavailable when the mail could not be queued within some seconds */
  send(mail: Mail): Promise<void>;
}

/** Files found by their key; a key is never opened as a path. */
export interface FileStore {
  /**
   * Keeps a file under a key that its account has not used.
   *
   * @param tx - transaction of what names the file: it is there when that is. A store outside the database writes
   * before the commit; what is left by a rollback is named by nothing
   */
  put(tx: Sql, file: StoredFile): Promise<void>;
  /**
   * The content of a file of an account, or null.
   *
   * @param sql - a transaction finds what it has put itself, and takes no second connection for it
   */
  read(sql: Sql, accountId: number, key: string): Promise<string | null>;
  /** A file of an account, to be read a piece at a time; null when there is none. */
  open(accountId: number, key: string): Promise<OpenFile | null>;
  /**
   * Begins a file that is written a piece at a time and that nobody finds before it is published.
   *
   * @param tx - of its pieces; a rollback takes them away
   */
  draft(tx: Sql, draft: FileDraft): Promise<DraftFile>;
  /** Removes the drafts that an activity left behind: their writers fail to publish them. */
  discard(sql: Sql, activityId: number): Promise<void>;
}

export interface OpenFile extends FoundFile {
  /** Whole characters in every piece. Who reads fails when the file is removed meanwhile. */
  pieces(): AsyncIterable<Buffer>;
}

/** A file that is being written. One that was discarded, or whose transaction was rolled back, is gone. */
export interface DraftFile {
  /**
   * Adds UTF-8 text that begins and ends with whole characters; its bytes may be overwritten once it has been.
   *
   * @throws when the draft is gone
   */
  append(piece: Buffer): Promise<void>;
  /**
   * Gives the file its key, once its pieces are committed, which no other file of the account has from then on. The one
   * that had it can be read to its end by whoever has opened it.
   *
   * @returns its id
   * @throws when the draft is gone
   */
  publish(tx: Sql, key: string, now: Date): Promise<number>;
}
