import type { Logger } from '../../src/process/logger.ts';
import { forgetAudits } from '../../src/persistence/compliance/audit-retention.repository.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import type { AuditRetentionActivities } from '../../workflows/contracts/activities.ts';

export interface AuditRetentionDeps {
  db: Database;
  clock: { now(): Date };
  logger: Logger;
  /** Of one step: results of computers, files and runs removed at most. */
  limits?: { results: number; objects: number };
}

/** Few enough rows to hold nobody up. */
const LIMITS = { results: 5_000, objects: 20 };

/** The step of `auditRetention`; harmless when run again. */
export function createAuditRetentionActivities(deps: AuditRetentionDeps): AuditRetentionActivities {
  const { db, clock, logger, limits = LIMITS } = deps;
  return {
    async forgetAudits() {
      const done = await forgetAudits(db, { now: clock.now(), ...limits });
      if (done.gone > 0) logger.info({ gone: done.gone }, 'old audits and reports are gone');
      return done;
    },
  };
}
