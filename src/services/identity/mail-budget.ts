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

export interface ReservedMail {
  /** @throws what `send` throws; the mail is not counted then */
  send(send: () => Promise<void>): Promise<void>;
}

/**
 * Counts a test mail or an address change of a person against a common limit of 10 an hour. People choose the
 * addresses, so these mails could flood other mailboxes, and the responses could reveal which addresses exist here.
 * @throws {DomainError} TooManyRequests with the time until the oldest one no longer counts
 * @remarks Counted before sending, so that concurrent requests cannot exceed the limit.
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
