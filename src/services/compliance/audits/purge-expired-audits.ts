import {
  deleteExpiredReports,
  deleteLostFiles,
  deleteResults,
  deleteRuns,
  lockExpiredRuns,
} from '../../../persistence/compliance/audit-retention.sql.ts';
import type { Database } from '../../../persistence/database/sql.ts';
import type { Logger } from '../../../process/logger.ts';
import type { Clock } from '../../common/ports.ts';

interface AuditRetention {
  db: Database;
  clock: Clock;
  logger: Logger;
  limits?: { results: number; objects: number };
}

/** Small enough to keep locks short. */
const LIMITS = { results: 5_000, objects: 20 };

/** Deletes reports, ended runs and unreachable files. Idempotent. @see docs/api-conventions.md#reports-and-files */
export async function purgeExpiredAudits({
  db,
  clock,
  logger,
  limits: { results, objects } = LIMITS,
}: AuditRetention): Promise<{ deletedCount: number; runs: number[]; more: boolean }> {
  const now = clock.now();
  const done = await db.transaction(async (tx) => {
    const files = (await deleteExpiredReports(tx, now, objects)) + (await deleteLostFiles(tx, now, objects));
    if (files > 0) return { deletedCount: files, runs: [], more: true };
    const runs = await lockExpiredRuns(tx, now, objects);
    const audits = await deleteResults(tx, runs, results);
    if (audits === results) return { deletedCount: audits, runs: [], more: true };
    const deletedCount = audits + (await deleteRuns(tx, runs));
    return { deletedCount, runs, more: runs.length === objects };
  });
  if (done.deletedCount > 0) logger.info({ deletedCount: done.deletedCount }, 'deleted old audits and reports');
  return done;
}
