import { approveGroups, approveOperations } from '../../persistence/activities/activity-approval.sql.ts';
import { queueMessages } from '../../persistence/activities/agent-messages.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { wakeWaiting } from '../../persistence/engine/prior-activities.sql.ts';

/**
 * Approves groups and operations: those with unfinished prior ones keep waiting, others are queued if their batch is
 * open. The caller's transaction holds the batch locks. Idempotent. @see docs/api-conventions.md#activity-statuses
 */
export async function approveActivities(tx: Sql, activities: readonly number[], now: Date): Promise<void> {
  const approved = await approveOperations(tx, activities, now);
  const opened = approved.filter((operation) => operation.opened);
  for (const [batch, rows] of Map.groupBy(opened, ({ lane_id }) => lane_id)) {
    await queueMessages(tx, { batch, operations: rows.map(({ id }) => id), now });
  }
  const awaited = new Set(approved.flatMap(({ after }) => after ?? []));
  if (awaited.size > 0) await wakeWaiting(tx, [...awaited], now);
  await approveGroups(tx, activities, now);
}
