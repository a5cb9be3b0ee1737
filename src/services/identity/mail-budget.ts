import { HOUR_MS } from '../../domain/common/durations.ts';
import { tooMany } from '../../domain/common/errors.ts';
import { findOldestTestMail, releaseTestMail, reserveTestMail } from '../../persistence/identity/mail-limits.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Clock, Mailer } from '../common/ports.ts';

const MAILS = 10;

/**
 * Counts a test mail or an address change of a person against a common limit of 10 an hour. People choose the
 * addresses, so these mails could flood other mailboxes, and the responses could reveal which addresses exist here.
 * Counted before sending, so that concurrent requests cannot exceed the limit.
 * @returns sends the mail; one that could not be sent is not counted
 * @throws {DomainError} TooManyRequests with the time until the oldest one no longer counts
 */
export async function reserveMail(
  { db, clock, mailer }: { db: Database; clock: Clock; mailer: Mailer },
  personId: number,
): Promise<Mailer['send']> {
  const at = clock.now();
  const since = new Date(at.getTime() - HOUR_MS);
  if (!(await reserveTestMail(db, personId, { at, since, most: MAILS }))) {
    const oldest = await findOldestTestMail(db, personId, since);
    throw tooMany(`No more than ${MAILS} test mails and changes of address an hour`, oldest, HOUR_MS, at);
  }
  return async (mail) => {
    try {
      await mailer.send(mail);
    } catch (error) {
      await releaseTestMail(db, personId, at);
      throw error;
    }
  };
}
