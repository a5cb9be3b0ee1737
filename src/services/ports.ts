import type { Permission } from '../domain/permissions.ts';

/** Where "now" comes from, so that tests can set it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Who asks, in which account, and what they may do there. Built once per request from the token and the rights as
 * they are now; every query of a service is scoped by it.
 *
 * @see api-decisions 3.3
 */
export interface Caller {
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

/** Tells the running parts whether Temporal answers; used by `/readyz` alone, never by a request that acts. */
export interface TemporalHealth {
  /** Resolves when Temporal serves our namespace and a worker polls the queue; rejects with a reason otherwise. */
  check(): Promise<void>;
}

/** Mail out of the system. @throws when the mail could not be queued */
export interface Mailer {
  send(mail: { to: string; subject: string; text: string }): Promise<void>;
}
