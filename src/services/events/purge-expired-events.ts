import type { Sql } from '../../persistence/database/sql.ts';
import { purgeExpiredEvents } from '../../persistence/events/events.sql.ts';
import type { Logger } from '../../process/logger.ts';

const STEP = 1_000;
const STEPS = 20;

/** Deletes a bounded number of expired rows of the event log; a failure is logged. @see docs/api-conventions.md#event-log */
export async function purgeExpiredEventLog(db: Sql, logger: Logger, eventRetentionDays: number): Promise<void> {
  if (eventRetentionDays < 0) return;
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
}
