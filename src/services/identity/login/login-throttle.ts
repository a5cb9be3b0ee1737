import { createHash } from 'node:crypto';
import type { LoginThrottleSettings } from '../../../process/config.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/common/durations.ts';
import { tooMany } from '../../../domain/common/errors.ts';
import {
  countLoginFailures,
  type FailureCounts,
  recordLoginFailure,
} from '../../../persistence/identity/logins.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import type { Clock } from '../../common/ports.ts';
import { rateLimitKey } from '../../../process/client-address.ts';

const HERE = { failures: 20, windowMs: 5 * MINUTE_MS };
const EVERYWHERE = { failures: 100, windowMs: HOUR_MS };

/** The stored form of a name: a digest, because people type passwords into name fields. */
export function digestName(name: string): Buffer {
  return createHash('sha256')
    .update(fold(name.normalize('NFC')))
    .digest();
}

/** By character, as in PostgreSQL: JavaScript maps some letters differently, and variants would count separately. */
function fold(name: string): string {
  return Array.from(name, (character) => (character === 'İ' ? 'i' : character.toLowerCase())).join('');
}

/** Registrations are counted under this name, which no login can use. */
const REGISTRATION = digestName('\0registration');

export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

/**
 * Rejects attempts after 20 failures in 5 minutes per address (or IPv6 /64) and name, 100 per hour per name, and a
 * configured number per address; the last two not from known addresses, so that nobody can lock people out.
 */
export function createLoginThrottle(db: Sql, clock: Clock, { isOn, addressLimit }: LoginThrottleSettings) {
  const count = (sql: Sql, nameDigest: Buffer, address: string, now: Date): Promise<FailureCounts> =>
    countLoginFailures(sql, {
      nameDigest,
      address: rateLimitKey(address),
      hereSince: new Date(now.getTime() - HERE.windowMs),
      everywhereSince: new Date(now.getTime() - EVERYWHERE.windowMs),
      acrossAtMost: addressLimit,
    });
  const rejectByAddress = ({ across, across_since }: FailureCounts, now: Date): void => {
    if (across < addressLimit) return;
    throw tooMany('Too many failed logins or registrations from this address', across_since, HERE.windowMs, now);
  };
  const fail = async (nameDigest: Buffer, address: string, sql: Sql = db): Promise<void> => {
    if (!isOn) return;
    const at = clock.now();
    const purgeBefore = new Date(at.getTime() - EVERYWHERE.windowMs);
    await recordLoginFailure(sql, { nameDigest, address: rateLimitKey(address), at, purgeBefore });
  };
  return {
    fail,
    /** Counts a registration against its address. */
    register: (address: string, sql: Sql) => fail(REGISTRATION, address, sql),
    /** For authenticated callers. @throws {DomainError} TooManyRequests with the time until the next attempt */
    async check(nameDigest: Buffer, address: string): Promise<void> {
      if (!isOn) return;
      const now = clock.now();
      rejectByName(await count(db, nameDigest, address, now), now);
    },
    /** For a login: also counts failures of its address with other names. @throws as `check` */
    async checkLogin(nameDigest: Buffer, address: string): Promise<void> {
      if (!isOn) return;
      const now = clock.now();
      const counts = await count(db, nameDigest, address, now);
      rejectByName(counts, now);
      if (!counts.known_address) rejectByAddress(counts, now);
    },
    /** @throws {DomainError} TooManyRequests with the time until the next attempt */
    async checkRegistration(address: string, sql: Sql = db): Promise<void> {
      if (!isOn) return;
      const now = clock.now();
      rejectByAddress(await count(sql, REGISTRATION, address, now), now);
    },
  };
}

function rejectByName(counts: FailureCounts, now: Date): void {
  const what = 'Too many failed logins';
  if (counts.here >= HERE.failures) throw tooMany(what, counts.here_since, HERE.windowMs, now);
  if (counts.everywhere >= EVERYWHERE.failures && !counts.known_address) {
    throw tooMany(what, counts.everywhere_since, EVERYWHERE.windowMs, now);
  }
}
