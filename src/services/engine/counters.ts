import { DAY_MS } from '../../domain/common/durations.ts';
import type { BatchProgress } from '../../domain/engine/progress.ts';
import { type ChildCounts, countDifference, rollUp } from '../../domain/engine/roll-up.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type BatchCounters, type LockedBatch, moveBatchCounters } from '../../persistence/engine/batches.sql.ts';
import {
  endGroup,
  moveGroupCounters,
  setGroupDelivered,
  setGroupUndelivered,
} from '../../persistence/engine/groups.sql.ts';
import type { Change } from '../../persistence/engine/operations.sql.ts';

/** Longest timer; waking up earlier than necessary does no harm. */
const LONGEST_WAIT_MS = 365 * DAY_MS;

/** Updates the counters of a batch and its group. @returns the state of the batch */
export async function recordCounters(
  tx: Sql,
  batch: LockedBatch,
  changes: readonly Change[],
  at: { nextDueAt: Date | null; now: Date },
): Promise<BatchProgress> {
  const isSame = at.nextDueAt?.getTime() === batch.next_due_at?.getTime();
  if (changes.length === 0 && batch.opened_at !== null && isSame) return progressOf(batch, batch, at.now);
  const difference = countDifference(changes);
  const counters = await moveBatchCounters(tx, batch.id, difference, at);
  // The delivery of a canceled operation changes no counter, but it starts the group.
  const isMoved =
    Object.values(difference).some((value) => value !== 0) || changes.some((change) => change.deliveredAt);
  if (batch.parent_id !== null && isMoved) await moveGroup(tx, batch.parent_id, difference, changes, at.now);
  return progressOf(batch, counters, at.now);
}

function progressOf({ has_dependents }: LockedBatch, counters: BatchCounters, now: Date): BatchProgress {
  const { open_count, succeeded_count, failed_count, canceled_count, next_due_at } = counters;
  return {
    open: open_count,
    succeeded: succeeded_count,
    failed: failed_count,
    canceled: canceled_count,
    chained: has_dependents,
    nextDueAt: next_due_at && Math.min(next_due_at.getTime(), now.getTime() + LONGEST_WAIT_MS),
    waitingFor: [],
  };
}

async function moveGroup(tx: Sql, group: number, difference: ChildCounts, changes: readonly Change[], now: Date) {
  const deliveries = changes.flatMap(({ deliveredAt }) => deliveredAt ?? []);
  const deliveredAt = deliveries.length > 0 ? new Date(Math.min(...deliveries)) : null;
  const moved = await moveGroupCounters(tx, group, difference, { now, deliveredAt });
  if (!moved) return;
  const status = rollUp(moved, moved.delivery_time !== null);
  if (moved.open === 0) {
    const ends = changes.flatMap(({ endedAt }) => endedAt ?? []);
    await endGroup(tx, group, status, ends.length > 0 ? new Date(Math.max(...ends)) : null);
  } else if (status !== moved.status) {
    await (status === 'delivered' ? setGroupDelivered(tx, group) : setGroupUndelivered(tx, group));
  }
}
