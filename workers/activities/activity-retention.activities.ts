import { DAY_MS } from '../../src/domain/common/durations.ts';
import type { Logger } from '../../src/process/logger.ts';
import { forgetActivities } from '../../src/persistence/engine/activity-retention.repository.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import type { RetentionActivities } from '../../workflows/contracts/activities.ts';

export interface RetentionDeps {
  db: Database;
  clock: { now(): Date };
  logger: Logger;
  /** Activities that ended longer ago go; negative keeps all. */
  activityRetentionDays: number;
  /** Of one step: activities looked at, and rows removed at most. */
  limits?: { scan: number; rows: number };
}

/** Few enough rows to hold nobody up; one group of any size goes whole. */
const LIMITS = { scan: 500, rows: 5_000 };

/** The step of `activityRetention`; harmless when run again. */
export function createRetentionActivities(deps: RetentionDeps): RetentionActivities {
  const { db, clock, logger, activityRetentionDays } = deps;
  const limits = deps.limits ?? LIMITS;
  return {
    async forgetActivities(after) {
      if (activityRetentionDays < 0) return { gone: 0, next: null };
      const before = new Date(clock.now().getTime() - activityRetentionDays * DAY_MS);
      const done = await forgetActivities(db, { before, after, ...limits });
      if (done.gone > 0) logger.info({ gone: done.gone, activityRetentionDays }, 'old activities are gone');
      return done;
    },
  };
}
