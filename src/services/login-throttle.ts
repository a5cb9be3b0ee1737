import { createHash } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { countLoginFailures, recordLoginFailure } from '../persistence/repositories/logins.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import type { Clock } from './ports.ts';

const HERE = { failures: 20, windowMs: 5 * 60_000 };
const EVERYWHERE = { failures: 100, windowMs: 60 * 60_000 };

/** The name as the throttle stores it: people type passwords into name fields, so never in clear. */
export function digestName(name: string): Buffer {
  return createHash('sha256')
    .update(fold(name.normalize('NFC')))
    .digest();
}

/**
 * In lower case as PostgreSQL, which finds the person, has it: each character by itself. JavaScript makes two of one of
 * them and looks at neighbours, so that other spellings of a name would have budgets of their own.
 */
function fold(name: string): string {
  return Array.from(name, (character) => (character === 'İ' ? 'i' : character.toLowerCase())).join('');
}

/**
 * Refuses further guesses: 20 failures in 5 minutes per address and name, 100 per hour per name, from which addresses
 * with an earlier success of that name are exempt, so that nobody locks others out.
 *
 * @see design.md 8, "Login throttle"
 */
export class LoginThrottle {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #isOn: boolean;

  /** @param isOn - false: nothing is counted and nothing refused */
  constructor(sql: Sql, clock: Clock, isOn = true) {
    this.#sql = sql;
    this.#clock = clock;
    this.#isOn = isOn;
  }

  /** @throws {DomainError} TooManyRequests with the time until the oldest failure stops counting */
  async check(nameDigest: Buffer, address: string): Promise<void> {
    if (!this.#isOn) return;
    const now = this.#clock.now().getTime();
    const hereSince = new Date(now - HERE.windowMs);
    const everywhereSince = new Date(now - EVERYWHERE.windowMs);
    const counts = await countLoginFailures(this.#sql, { nameDigest, address, hereSince, everywhereSince });
    if (counts.here >= HERE.failures) throw tooMany(counts.here_since, HERE.windowMs, now);
    if (counts.everywhere >= EVERYWHERE.failures && !counts.known_address) {
      throw tooMany(counts.everywhere_since, EVERYWHERE.windowMs, now);
    }
  }

  /** @param sql - the caller's transaction, if there is one */
  async fail(nameDigest: Buffer, address: string, sql: Sql = this.#sql): Promise<void> {
    if (!this.#isOn) return;
    const at = this.#clock.now();
    const forgetBefore = new Date(at.getTime() - EVERYWHERE.windowMs);
    await recordLoginFailure(sql, { nameDigest, address, at, forgetBefore });
  }
}

function tooMany(since: Date | null, windowMs: number, now: number): DomainError {
  const waitMs = (since?.getTime() ?? now) + windowMs - now;
  return new DomainError('TooManyRequests', 'Too many failed logins; try again later', {
    retryAfterSeconds: Math.max(1, waitMs / 1000),
  });
}
