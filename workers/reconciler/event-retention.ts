import type { Logger } from '../../src/process/logger.ts';
import { purgeExpiredEvents } from '../../src/persistence/events/events.sql.ts';
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
  let deletedCount = 0;
  try {
    for (let step = 0; step < STEPS; step += 1) {
      const deleted = await purgeExpiredEvents(db, eventRetentionDays, STEP);
      deletedCount += deleted;
      if (deleted < STEP) break;
    }
  } catch (error) {
    logger.warn({ err: error }, 'expired events could not be deleted');
  }
  if (deletedCount > 0) logger.info({ deletedCount, eventRetentionDays }, 'deleted expired events');
  return deletedCount;
}
