import { approveGroups, approveOperations } from '../../persistence/activities/activity-approval.repository.ts';
import { queueMessages } from '../../persistence/activities/agent-messages.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { wakeWaiting } from '../../persistence/engine/prior-activities.repository.ts';

/**
 * Approves operations that waited for it: one that waits for another goes on waiting, the rest is queued if its batch
 * is open already. A group waits for approval as long as one of its operations does.
 * @param activities - groups and operations
 * @remarks Part of the caller's transaction, which holds the batches' locks. Doing it twice changes nothing.
 * @see docs/api-conventions.md#activity-statuses
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
