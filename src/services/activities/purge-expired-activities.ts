import { DAY_MS } from '../../domain/common/durations.ts';
import { blocksOf, deleteEmptyBlocks } from '../../persistence/activities/activity-blocks.ts';
import {
  type AgeCursor,
  deleteActivities,
  deleteParts,
  lockExpired,
  type RetentionCandidate,
  readExpiredRows,
  readRetentionCandidates,
} from '../../persistence/activities/activity-retention.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import {
  deleteUnnamedAttachments,
  lockScriptsOfPayloads,
} from '../../persistence/scripts/script-attachments.repository.ts';
import type { Logger } from '../../process/logger.ts';
import type { Clock } from '../common/ports.ts';

export interface ActivityRetention {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** Activities that ended longer ago are deleted; negative keeps all. */
  activityRetentionDays: number;
  /** Of one call: activities looked at, and rows deleted at most. */
  limits?: { scan: number; rows: number };
}

/** Few enough rows to hold nobody up; one group of any size goes whole. */
const LIMITS = { scan: 500, rows: 5_000 };

/**
 * Deletes some old activities: groups with all their operations, operations that are in no group, each with payloads,
 * messages, batches, partial results and the replaced files of scripts that nothing else names. In one transaction.
 * @param after - where the call before stopped; null to begin with the oldest
 * @returns how many rows of activities were deleted, and where the next call begins; null when all were looked at
 * @remarks Safe to repeat and to run twice at once.
 */
export async function purgeExpiredActivities(
  { db, clock, logger, activityRetentionDays, limits = LIMITS }: ActivityRetention,
  after: AgeCursor | null,
): Promise<{ deletedCount: number; next: AgeCursor | null }> {
  if (activityRetentionDays < 0) return { deletedCount: 0, next: null };
  const before = new Date(clock.now().getTime() - activityRetentionDays * DAY_MS);
  const candidates = await readRetentionCandidates(db, before, after, limits.scan);
  const looked = withinRows(candidates, limits.rows);
  const due = looked.filter((candidate) => candidate.due).map(({ id }) => id);
  const deletedCount = due.length === 0 ? 0 : await db.transaction((tx) => purge(tx, due, before));
  if (deletedCount > 0) logger.info({ deletedCount, activityRetentionDays }, 'deleted old activities');
  const last = looked.at(-1);
  const more = looked.length < candidates.length || candidates.length === limits.scan;
  return { deletedCount, next: more && last ? { createdAt: last.created_at, id: last.id } : null };
}

/** The first candidates, up to so many rows that are due; one at least. */
function withinRows(candidates: readonly RetentionCandidate[], rows: number): readonly RetentionCandidate[] {
  let size = 0;
  const end = candidates.findIndex((candidate, place) => {
    size += candidate.due ? candidate.size : 0;
    return place > 0 && size > rows;
  });
  return end < 0 ? candidates : candidates.slice(0, end);
}

async function purge(tx: Sql, candidates: readonly number[], before: Date): Promise<number> {
  const expired = await lockExpired(tx, candidates, before);
  if (expired.length === 0) return 0;
  const rows = await readExpiredRows(tx, expired);
  // Before rows of other activities are written, as whoever repeats one locks its script first.
  const scripts = await lockScriptsOfPayloads(tx, rows.payloads);
  await deleteParts(tx, rows);
  if (scripts.length > 0) await deleteUnnamedAttachments(tx, scripts);
  const blocks = await blocksOf(tx, rows.ids);
  await deleteActivities(tx, rows);
  await deleteEmptyBlocks(tx, blocks);
  return rows.ids.length;
}
