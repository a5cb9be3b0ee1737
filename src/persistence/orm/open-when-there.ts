import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../process/logger.ts';
import { openPersistence, type Persistence } from './orm.ts';

const PAUSE_MS = 500;

/**
 * Opens the database as soon as its server lets us in: a deploy starts everything together.
 *
 * @param limitMs - how long to try; without end by default
 * @throws what the last attempt failed with, once the limit is over
 */
export async function openWhenThere(
  options: Parameters<typeof openPersistence>[0],
  logger: Logger,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<Persistence> {
  const until = Date.now() + limitMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await openPersistence(options);
    } catch (error) {
      if (Date.now() >= until) throw error;
      if (tries === 0) logger.warn({ err: error }, 'the database does not answer, trying again');
      await delay(PAUSE_MS);
    }
  }
}
