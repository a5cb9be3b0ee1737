import { HOUR_MS } from '../../domain/common/durations.ts';
import { tooMany } from '../../domain/common/errors.ts';
import { findOldestTestMail, releaseTestMail, reserveTestMail } from '../../persistence/identity/mail-limits.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Clock, Mailer } from '../common/ports.ts';

const MAILS = 10;

/**
 * Limits test mails and address changes to 10 an hour per person, who could flood mailboxes or find out addresses.
 * Counted before sending (races). Returns the sender; a mail that could not be sent is not counted.
 * @throws {DomainError} TooManyRequests with the time until the next
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
