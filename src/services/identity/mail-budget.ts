import { HOUR_MS } from '../../domain/common/durations.ts';
import { tooMany } from '../../domain/common/errors.ts';
import {
  findOldestTestMail,
  releaseTestMail,
  reserveTestMail,
} from '../../persistence/identity/test-mails.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Clock } from '../common/ports.ts';

const MAILS = 10;

/** One mail that a person may send. */
export interface ReservedMail {
  /** @throws what `send` throws; the mail does not count then */
  send(send: () => Promise<void>): Promise<void>;
}

/**
 * Counts a test mail or a change of address of a person: 10 an hour together. People choose the addresses, so these mails
 * could flood somebody else's mailbox, and the responses could reveal which addresses exist here.
 * @throws {DomainError} TooManyRequests with the time until the oldest one stops counting
 * @remarks Counted before it is sent, so that concurrent requests cannot exceed the limit.
 */
export async function reserveMail(deps: { db: Database; clock: Clock }, personId: number): Promise<ReservedMail> {
  const at = deps.clock.now();
  const since = new Date(at.getTime() - HOUR_MS);
  if (!(await reserveTestMail(deps.db, personId, { at, since, most: MAILS }))) {
    const oldest = await findOldestTestMail(deps.db, personId, since);
    throw tooMany(`No more than ${MAILS} test mails and changes of address an hour`, oldest, HOUR_MS, at);
  }
  return {
    async send(send) {
      try {
        await send();
      } catch (error) {
        await releaseTestMail(deps.db, personId, at);
        throw error;
      }
    },
  };
}
