import {
  deleteExpiredReports,
  deleteLostFiles,
  deleteResults,
  deleteRuns,
  lockExpiredRuns,
} from '../../../persistence/compliance/audit-retention.repository.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import type { Logger } from '../../../process/logger.ts';
import type { Clock } from '../../common/ports.ts';

export interface AuditRetention {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** Of one call: results of computers, files and runs deleted at most. */
  limits?: { results: number; objects: number };
}

/** Few enough rows to hold nobody up. */
const LIMITS = { results: 5_000, objects: 20 };

/**
 * Deletes some of what accounts do not keep any more: reports that are too old or show runs that are, then results and
 * runs; and files that nobody can find. In one transaction. A run that has not ended is kept.
 * @returns how much was deleted, and whether there may be more
 * @remarks Safe to repeat and to run twice at once.
 * @see docs/api-conventions.md#reports-and-files
 */
export async function purgeExpiredAudits({
  db,
  clock,
  logger,
  limits: { results, objects } = LIMITS,
}: AuditRetention): Promise<{ deletedCount: number; more: boolean }> {
  const now = clock.now();
  const done = await db.transaction(async (tx) => {
    const files = (await deleteExpiredReports(tx, now, objects)) + (await deleteLostFiles(tx, now, objects));
    if (files > 0) return { deletedCount: files, more: true };
    const runs = await lockExpiredRuns(tx, now, objects);
    const audits = await deleteResults(tx, runs, results);
    if (audits === results) return { deletedCount: audits, more: true };
    return { deletedCount: audits + (await deleteRuns(tx, runs)), more: runs.length === objects };
  });
  if (done.deletedCount > 0) logger.info({ deletedCount: done.deletedCount }, 'deleted old audits and reports');
  return done;
}
