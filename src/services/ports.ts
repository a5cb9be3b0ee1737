import type { Origin } from '../domain/events.ts';
import type { Permission } from '../domain/permissions.ts';

/** Where "now" comes from, so that tests can set it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Who a token stands for, in which account, and what they may do there, from the rights as they are now.
 *
 * @see api-decisions 3.3
 */
export interface Principal {
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

/** Who asks. Built once per request; every query of a service is scoped by it, every event names it. */
export interface Caller extends Principal {
  origin: Origin;
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
