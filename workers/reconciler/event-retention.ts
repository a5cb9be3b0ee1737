import type { Logger } from '../../src/process/logger.ts';
import { purgeExpiredEvents } from '../../src/persistence/events/events.repository.ts';
import type { Sql } from '../../src/persistence/database/sql.ts';

export interface EventRetention {
  db: Sql;
  logger: Logger;
  /** Older events are deleted; negative keeps all. */
  eventRetentionDays: number;
}

/** Rows per statement: few enough not to block others. */
const STEP = 1_000;
/** Statements per run; the next run, a minute later, continues. */
const STEPS = 20;

/**
 * Deletes a bounded number of expired rows of the event log.
 * @returns the number of deleted rows
 * @remarks A failure is logged; the next run tries again.
 * @see docs/api-conventions.md#event-log
 */
export async function purgeExpiredEventLog({ db, logger, eventRetentionDays }: EventRetention): Promise<number> {
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
