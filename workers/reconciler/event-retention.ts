import type { Logger } from '../../src/process/logger.ts';
import { purgeExpiredEvents } from '../../src/persistence/events/events.repository.ts';
import type { Sql } from '../../src/persistence/database/sql.ts';

export interface EventRetention {
  db: Sql;
  logger: Logger;
  /** Older lines of the event log go; negative keeps all. */
  eventRetentionDays: number;
}

/** Lines in one statement: few enough to hold nobody up. */
const STEP = 1_000;
/** Statements in one run; the next run, a minute later, goes on. */
const STEPS = 20;

/**
 * Shortens the event log to what is to be kept, by a bounded number of lines.
 * @returns how many lines went
 * @remarks A failure is logged and left to the next run.
 * @see docs/api-conventions.md#event-log
 */
export async function shortenEventLog({ db, logger, eventRetentionDays }: EventRetention): Promise<number> {
  if (eventRetentionDays < 0) return 0;
  let gone = 0;
  try {
    for (let step = 0; step < STEPS; step += 1) {
      const forgotten = await purgeExpiredEvents(db, eventRetentionDays, STEP);
      gone += forgotten;
      if (forgotten < STEP) break;
    }
  } catch (error) {
    logger.warn({ err: error }, 'the event log could not be shortened');
  }
  if (gone > 0) logger.info({ gone, eventRetentionDays }, 'old lines of the event log are gone');
  return gone;
}
