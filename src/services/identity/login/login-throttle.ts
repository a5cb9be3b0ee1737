import { createHash } from 'node:crypto';
import { HOUR_MS, MINUTE_MS } from '../../../domain/common/durations.ts';
import { tooMany } from '../../../domain/common/errors.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import {
  countLoginFailures,
  type FailureCounts,
  recordLoginFailure,
} from '../../../persistence/identity/logins.repository.ts';
import type { LoginThrottleSettings } from '../../../process/config.ts';
import type { Clock } from '../../common/ports.ts';
import { rateLimitKey } from '../../common/token-buckets.ts';

const HERE = { failures: 20, windowMs: 5 * MINUTE_MS };
const EVERYWHERE = { failures: 100, windowMs: HOUR_MS };

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

/** The name under which registrations are counted; nobody can log in with it. */
const REGISTRATION = digestName('\0registration');

/**
 * Refuses further guesses: 20 failures in 5 minutes per address and name, 100 per hour per name, and so many of one
 * address as the setting says. Addresses with an earlier success of a name are exempt from the last two, so that nobody
 * locks others out. An IPv6 /64 is one address.
 */
export class LoginThrottle {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #settings: LoginThrottleSettings;

  constructor(sql: Sql, clock: Clock, settings: LoginThrottleSettings) {
    this.#sql = sql;
    this.#clock = clock;
    this.#settings = settings;
  }

  /**
   * For whoever is known already, as by a token.
   *
   * @throws {DomainError} TooManyRequests with the time until the oldest failure stops counting
   */
  async check(nameDigest: Buffer, address: string): Promise<void> {
    if (!this.#settings.isOn) return;
    const now = this.#clock.now();
    refuseByName(await this.#count(this.#sql, nameDigest, address, now), now);
  }

  /** For a login: what its address did with other names counts too. @throws as {@link check} */
  async checkLogin(nameDigest: Buffer, address: string): Promise<void> {
    if (!this.#settings.isOn) return;
    const now = this.#clock.now();
    const counts = await this.#count(this.#sql, nameDigest, address, now);
    refuseByName(counts, now);
    if (!counts.known_address) this.#refuseByAddress(counts, now);
  }

  /** For a registration of a person or account. @param sql - as of {@link fail} @throws as {@link check} */
  async checkRegistration(address: string, sql: Sql = this.#sql): Promise<void> {
    if (!this.#settings.isOn) return;
    const now = this.#clock.now();
    this.#refuseByAddress(await this.#count(sql, REGISTRATION, address, now), now);
  }

  /** @param sql - the caller's transaction, if there is one */
  async fail(nameDigest: Buffer, address: string, sql: Sql = this.#sql): Promise<void> {
    if (!this.#settings.isOn) return;
    const at = this.#clock.now();
    const forgetBefore = new Date(at.getTime() - EVERYWHERE.windowMs);
    await recordLoginFailure(sql, { nameDigest, address: rateLimitKey(address), at, forgetBefore });
  }

  /** Counts a registration. @param sql - its transaction */
  register(address: string, sql: Sql): Promise<void> {
    return this.fail(REGISTRATION, address, sql);
  }

  #count(sql: Sql, nameDigest: Buffer, address: string, now: Date): Promise<FailureCounts> {
    return countLoginFailures(sql, {
      nameDigest,
      address: rateLimitKey(address),
      hereSince: new Date(now.getTime() - HERE.windowMs),
      everywhereSince: new Date(now.getTime() - EVERYWHERE.windowMs),
      acrossAtMost: this.#settings.addressLimit,
    });
  }

  #refuseByAddress({ across, across_since }: FailureCounts, now: Date): void {
    if (across < this.#settings.addressLimit) return;
    const what = 'Too many failed logins or registrations from this address';
    throw tooMany(what, across_since, HERE.windowMs, now);
  }
}

function refuseByName(counts: FailureCounts, now: Date): void {
  const what = 'Too many failed logins';
  if (counts.here >= HERE.failures) throw tooMany(what, counts.here_since, HERE.windowMs, now);
  if (counts.everywhere >= EVERYWHERE.failures && !counts.known_address) {
    throw tooMany(what, counts.everywhere_since, EVERYWHERE.windowMs, now);
  }
}
