import { DomainError } from '../domain/errors.ts';
import {
  findOldestTestMail,
  releaseTestMail,
  reserveTestMail,
} from '../persistence/repositories/test-mails.repository.ts';
import type { Database } from '../persistence/sql.ts';
import type { Clock } from './ports.ts';

const MAILS = 10;
const WINDOW_MS = 60 * 60_000;

/**
 * Sends a test mail for a person, 10 an hour at most, whoever owns the address: people choose theirs freely, so these
 * mails could fill somebody else's box. Mails that were not sent do not count.
 *
 * @throws {DomainError} TooManyRequests with the time until the oldest one stops counting, and whatever `send` throws
 */
export async function sendWithinLimit(
  deps: { db: Database; clock: Clock },
  personId: number,
  send: () => Promise<void>,
): Promise<void> {
  const at = deps.clock.now();
  const since = new Date(at.getTime() - WINDOW_MS);
  // Reserved before it is sent, so that many at once are not more than one after the other.
  if (!(await reserveTestMail(deps.db, personId, { at, since, most: MAILS }))) {
    const oldest = await findOldestTestMail(deps.db, personId, since);
    const waitMs = (oldest ?? at).getTime() + WINDOW_MS - at.getTime();
    throw new DomainError('TooManyRequests', `No more than ${MAILS} test mails an hour; try again later`, {
      retryAfterSeconds: Math.max(1, waitMs / 1000),
    });
  }
  try {
    await send();
  } catch (error) {
    await releaseTestMail(deps.db, personId, at);
    throw error;
  }
}
