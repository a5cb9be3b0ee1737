import type { Origin } from '../domain/events.ts';
import { type LoginPerson, recordFailedLogin, recordLogin } from '../persistence/repositories/logins.repository.ts';
import type { Database, Sql } from '../persistence/sql.ts';
import type { LoginThrottle } from './login-throttle.ts';

/** What somebody proved to be themselves with. */
export type LoginMeans = 'a password' | 'an identity' | 'an access key';

/** One attempt to log in. */
export interface LoginAttempt {
  nameDigest: Buffer;
  means: LoginMeans;
  origin: Origin;
}

/**
 * Remembers a success, for the person, the throttle and the log of the account that becomes current.
 *
 * @param accountId - 0 for none
 * @returns the system's counter of revocations
 */
export function rememberSuccess(
  db: Sql,
  attempt: LoginAttempt,
  who: { person: LoginPerson; accountId: number; at: Date },
): Promise<number> {
  const { nameDigest, means, origin } = attempt;
  const { person, accountId, at } = who;
  const message = `Logged in with ${means}`;
  return recordLogin(db, { personId: person.id, name: person.name, accountId, nameDigest, origin, message, at });
}

/**
 * Remembers a failure, for the throttle and the log of the account it was about.
 *
 * @param about - null for a name that nobody has: it takes the same statements, and leaves no line
 */
export function rememberFailure(
  db: Database,
  throttle: LoginThrottle,
  attempt: LoginAttempt,
  about: { personId: number; accountName?: string } | null,
): Promise<void> {
  const { nameDigest, means, origin } = attempt;
  return db.transaction(async (tx) => {
    await throttle.fail(nameDigest, origin.address, tx);
    await recordFailedLogin(tx, {
      personId: about?.personId ?? null,
      accountName: about?.accountName ?? null,
      message: `A login with ${means} failed`,
      origin,
    });
  });
}
