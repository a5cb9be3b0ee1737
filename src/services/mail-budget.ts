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

/** One mail, or one question for an address, that a person has been allowed. */
export interface Reserved {
  /** It does not count: nothing came of it. */
  release(): Promise<void>;
}

/**
 * Counts a test mail or a change of address of a person: 10 an hour together. People choose the addresses, so these
 * mails could fill somebody else's box, and the answers could tell which addresses are known here.
 *
 * @throws {DomainError} TooManyRequests with the time until the oldest one stops counting
 * @remarks Counted before it is sent, so that many at once are not more than one after the other.
 */
export async function reserveMail(deps: { db: Database; clock: Clock }, personId: number): Promise<Reserved> {
  const at = deps.clock.now();
  const since = new Date(at.getTime() - WINDOW_MS);
  if (await reserveTestMail(deps.db, personId, { at, since, most: MAILS })) {
    return { release: () => releaseTestMail(deps.db, personId, at) };
  }
  const oldest = await findOldestTestMail(deps.db, personId, since);
  const waitMs = (oldest ?? at).getTime() + WINDOW_MS - at.getTime();
  const what = `No more than ${MAILS} test mails and changes of address an hour`;
  throw new DomainError('TooManyRequests', `${what}; try again later`, {
    retryAfterSeconds: Math.max(1, waitMs / 1000),
  });
}

/** Sends a mail that counts. @throws as {@link reserveMail}, and whatever `send` throws; it does not count then */
export async function sendWithinBudget(
  deps: { db: Database; clock: Clock },
  personId: number,
  send: () => Promise<void>,
): Promise<void> {
  const reserved = await reserveMail(deps, personId);
  try {
    await send();
  } catch (error) {
    await reserved.release();
    throw error;
  }
}
