import type { Sql } from '../../persistence/database/sql.ts';
import { purgeExpiredCloudEvents } from '../../persistence/events/cloud-events.sql.ts';
import { purgeExpiredEvents } from '../../persistence/events/events.sql.ts';
import { purgeExpiredDeliveries } from '../../persistence/events/webhooks.sql.ts';
import type { Logger } from '../../process/logger.ts';

const STEP = 1_000;
const STEPS = 20;
/** Groups of thousands of computers write two for each of them. */
const FEED_STEP = 20_000;

/** Days; negative keeps everything. */
export interface EventRetention {
  eventRetentionDays: number;
  eventFeedDays: number;
}

/** Deletes a bounded number of expired events; a failure is logged. @see docs/api-conventions.md#event-log */
export async function purgeExpiredEventLog(db: Sql, logger: Logger, kept: EventRetention): Promise<void> {
  const { eventRetentionDays, eventFeedDays } = kept;
  await purge(logger, 'entries of the event log', eventRetentionDays, STEP, purgeExpiredEvents.bind(null, db));
  await purge(logger, 'events', eventFeedDays, FEED_STEP, purgeExpiredCloudEvents.bind(null, db));
  await purge(logger, 'deliveries of webhooks', eventFeedDays, FEED_STEP, purgeExpiredDeliveries.bind(null, db));
}

async function purge(
  logger: Logger,
  what: string,
  keepDays: number,
  limit: number,
  purgeExpired: (keepDays: number, limit: number) => Promise<number>,
): Promise<void> {
  if (keepDays < 0) return;
  let deletedCount = 0;
  try {
    for (let step = 0; step < STEPS; step += 1) {
      const deleted = await purgeExpired(keepDays, limit);
      deletedCount += deleted;
      if (deleted < limit) break;
    }
  } catch (error) {
    logger.warn({ err: error }, `expired ${what} could not be deleted`);
  }
  if (deletedCount > 0) logger.info({ deletedCount, keepDays }, `deleted expired ${what}`);
}
