import { DAY_MS } from '../../domain/common/durations.ts';
import {
  type AgeCursor,
  blocksOf,
  deleteActivities,
  deleteEmptyBlocks,
  deleteParts,
  lockExpired,
  readExpiredRows,
  readRetentionCandidates,
  type RetentionCandidate,
} from '../../persistence/activities/activity-retention.sql.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { deleteUnnamedAttachments, lockScriptsOfPayloads } from '../../persistence/scripts/script-attachments.sql.ts';
import type { Logger } from '../../process/logger.ts';
import type { Clock } from '../common/ports.ts';

export interface ActivityRetention {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** Activities that ended longer ago are deleted; a negative number keeps all. */
  activityRetentionDays: number;
  limits?: { scan: number; rows: number };
}

/** Small enough to keep locks short; a single group is always deleted completely. */
const LIMITS = { scan: 500, rows: 5_000 };
const NAMED_LIMIT = 25;

interface Purged {
  deletedCount: number;
  deleted: number[];
}
const NONE: Purged = { deletedCount: 0, deleted: [] };

/**
 * Deletes groups and single operations with all that only they use. Idempotent, also concurrently. Returns the number
 * of rows, the first deleted ids, and the position for `after` of the next call; null at the end.
 */
export async function purgeExpiredActivities(
  { db, clock, logger, activityRetentionDays, limits = LIMITS }: ActivityRetention,
  after: AgeCursor | null,
): Promise<{ deletedCount: number; deleted: number[]; next: AgeCursor | null }> {
  if (activityRetentionDays < 0) return { deletedCount: 0, deleted: [], next: null };
  const before = new Date(clock.now().getTime() - activityRetentionDays * DAY_MS);
  const candidates = await readRetentionCandidates(db, before, after, limits.scan);
  const looked = withinRows(candidates, limits.rows);
  const due = looked.filter((candidate) => candidate.due).map(({ id }) => id);
  const { deletedCount, deleted } = due.length === 0 ? NONE : await db.transaction((tx) => purge(tx, due, before));
  if (deletedCount > 0) logger.info({ deletedCount, activityRetentionDays }, 'deleted old activities');
  const last = looked.at(-1);
  const more = looked.length < candidates.length || candidates.length === limits.scan;
  const next = more && last ? { createdAt: last.createdAt, id: last.id } : null;
  return { deletedCount, deleted: deleted.slice(0, NAMED_LIMIT), next };
}

/** The first candidates, at least one, up to the given number of due rows. */
function withinRows(candidates: readonly RetentionCandidate[], rows: number): readonly RetentionCandidate[] {
  let size = 0;
  const end = candidates.findIndex((candidate, place) => {
    size += candidate.due ? candidate.size : 0;
    return place > 0 && size > rows;
  });
  return end < 0 ? candidates : candidates.slice(0, end);
}

async function purge(tx: Sql, candidates: readonly number[], before: Date): Promise<Purged> {
  const expired = await lockExpired(tx, candidates, before);
  if (expired.length === 0) return NONE;
  const rows = await readExpiredRows(tx, expired);
  // Before rows of other activities are written: repetitions lock their script first, too.
  const scripts = await lockScriptsOfPayloads(tx, rows.payloads);
  await deleteParts(tx, rows);
  if (scripts.length > 0) await deleteUnnamedAttachments(tx, scripts);
  const blocks = await blocksOf(tx, rows.ids);
  await deleteActivities(tx, rows);
  await deleteEmptyBlocks(tx, blocks);
  return { deletedCount: rows.ids.length, deleted: expired };
}
