import { type ActivityStatus, isFinal } from '../../domain/activities/status.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { LockedBatch } from '../../persistence/engine/batches.sql.ts';
import {
  type Change,
  cancelDependents,
  cancelOperations,
  type Released,
  releaseDependents,
} from '../../persistence/engine/operations.sql.ts';
import { readDecided, releaseWaiting } from '../../persistence/engine/prior-activities.sql.ts';

interface MovedChains {
  canceled: Change[];
  released: Released[];
}

/** Releases dependents of successful operations and cancels those of failed ones. */
export async function moveChains(
  tx: Sql,
  batch: LockedBatch,
  changes: readonly Change[],
  now: Date,
): Promise<MovedChains> {
  const canceled: Change[] = [];
  const released: Released[] = [];
  if (!batch.has_dependents) return { canceled, released };
  const failed = idsOf(changes, 'failed');
  if (failed.length > 0) canceled.push(...(await cancelDependents(tx, batch.id, failed, now)));
  const succeeded = idsOf(changes, 'succeeded');
  if (succeeded.length > 0) released.push(...(await releaseDependents(tx, batch.id, succeeded, now)));
  if (batch.after_activity_id === null) return { canceled, released };
  const waiting = await moveWaiting(tx, batch.id, batch.after_activity_id, now);
  return { canceled: [...canceled, ...waiting.canceled], released: [...released, ...waiting.released] };
}

async function moveWaiting(tx: Sql, batch: number, activity: number, now: Date): Promise<MovedChains> {
  const decided = await readDecided(tx, batch, activity);
  const lost = decided.filter(({ done }) => !done).map(({ id }) => id);
  const ready = decided.filter(({ done }) => done).map(({ id }) => id);
  const text = `Activity ${activity} did not succeed on this computer.`;
  return {
    canceled: lost.length === 0 ? [] : await cancelOperations(tx, batch, lost, now, text),
    released: ready.length === 0 ? [] : await releaseWaiting(tx, ready, now),
  };
}

/** Operations that have just ended and their group; other activities may wait for any of them. */
export function endedIn({ parent_id }: LockedBatch, changes: readonly Change[]): number[] {
  const ended = changes.filter(({ to }) => isFinal(to)).flatMap(({ ids }) => ids);
  return ended.length === 0 || parent_id === null ? ended : [parent_id, ...ended];
}

function idsOf(changes: readonly Change[], status: ActivityStatus): number[] {
  return changes.filter(({ to }) => to === status).flatMap(({ ids }) => ids);
}
