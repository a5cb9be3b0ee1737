import type { Origin } from '../../../domain/events/events.ts';
import { type LoginPerson, recordFailedLogin, recordLogin } from '../../../persistence/identity/logins.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { AuthMethod } from '../../common/ports.ts';
import { rateLimitKey } from '../../../process/client-address.ts';

const MEANS: Readonly<Record<AuthMethod, string>> = {
  pwd: 'a password',
  pam: 'an identity',
  key: 'an access key',
};

export interface LoginAttempt {
  nameDigest: Buffer;
  method: AuthMethod;
  origin: Origin;
}

/**
 * Records a success for the person, the throttle and the event log of the account that becomes current.
 * @param accountId - 0 for none
 * @param accessKey - the one that was used; null for none
 * @returns the system's counter of revocations
 */
export function recordSuccess(
  db: Sql,
  attempt: LoginAttempt,
  who: { person: LoginPerson; accountId: number; accessKey: string | null; at: Date },
): Promise<number> {
  const { nameDigest, method, origin } = attempt;
  const { person, accountId, accessKey, at } = who;
  const message = `Logged in with ${MEANS[method]}`;
  return recordLogin(db, {
    personId: person.id,
    name: person.name,
    accountId,
    accessKey,
    nameDigest,
    sender: rateLimitKey(origin.address),
    origin,
    message,
    at,
  });
}

/**
 * Records a failure for the throttle and the event log of the account.
 * @param about - null for an unknown name: the same statements run, but no event is kept
 */
export function recordFailure(
  db: Database,
  throttle: LoginThrottle,
  attempt: LoginAttempt,
  about: { personId: number; accountName?: string } | null,
): Promise<void> {
  const { nameDigest, method, origin } = attempt;
  return db.transaction(async (tx) => {
    await throttle.fail(nameDigest, origin.address, tx);
    await recordFailedLogin(tx, {
      personId: about?.personId ?? null,
      accountName: about?.accountName ?? null,
      message: `A login with ${MEANS[method]} failed`,
      origin,
    });
  });
}
