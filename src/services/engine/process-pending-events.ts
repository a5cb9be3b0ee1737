import type { BatchProgress } from '../../domain/engine/progress.ts';
import { queueMessages } from '../../persistence/activities/agent-messages.repository.ts';
import { recordPackageChanges } from '../../persistence/activities/package-changes.repository.ts';
import { recordAuditProgress } from '../../persistence/compliance/usg-audits.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { lockBatch } from '../../persistence/engine/batches.repository.ts';
import type { Change, Released } from '../../persistence/engine/operations.repository.ts';
import { applyPendingEvents, EVENTS_LIMIT } from '../../persistence/engine/pending-events.repository.ts';
import { wakeWaiting } from '../../persistence/engine/prior-activities.repository.ts';
import type { ActivitySettings } from '../../process/config.ts';
import type { Clock } from '../common/ports.ts';
import { cancelRequested, isOfWholeBatch } from './cancel-requested.ts';
import { endedIn, moveChains } from './chains.ts';
import { recordCounters } from './counters.ts';
import { dueTimeAfter, earliest, expireOperations, readNextDueTime } from './due-times.ts';

export interface ProcessingOptions {
  clock: Clock;
  settings: Pick<ActivitySettings, 'expiryDays'>;
}

/** What one call did, and how the batch stands afterwards. */
interface Processed {
  progress: BatchProgress;
  events: number;
  /** Its last operation ended just now. */
  isClosed: boolean;
}

const NOTHING: BatchProgress = { open: 0, succeeded: 0, failed: 0, canceled: 0, nextDueAt: null, waitingFor: [] };

/**
 * Moves a batch on by everything that happened to it, in the caller's transaction.
 *
 * @see docs/architecture.md#processing-pending-events
 */
export async function processPendingEvents(
  tx: Sql,
  id: number,
  cancelAll: boolean,
  { clock, settings: { expiryDays } }: ProcessingOptions,
): Promise<Processed> {
  const batch = await lockBatch(tx, id);
  if (!batch) return { progress: NOTHING, events: 0, isClosed: false };
  const now = clock.now();
  const isOpened = batch.opened_at !== null;
  const limits = { expiryDays, answerSeconds: batch.answer_seconds };
  const { consumed, changes: applied, cancels } = await applyPendingEvents(tx, id, now);
  const changes = [...applied];
  await recordPackages(tx, applied);
  const known = dueTimeAfter(batch.next_due_at, applied, limits, now);
  // An event that was not read yet may hold the answer: nothing is overdue before.
  const isDue = known !== null && known <= now && consumed < EVENTS_LIMIT;
  if (isDue) changes.push(...(await expireOperations(tx, id, limits, now)));
  changes.push(...(await cancelRequested(tx, id, cancels, { cancelAll, now })));
  const chains = await moveChains(tx, batch, changes, now);
  changes.push(...chains.canceled);
  if (batch.awaited) await wakeWaiting(tx, endedIn(batch, changes), now);
  await queueMessages(tx, {
    lane: id,
    operations: isOpened ? chains.released.map((operation) => operation.id) : null,
    now,
  });
  if (batch.usg_run_id !== null) await recordAuditProgress(tx, batch.usg_run_id, changes, now);
  const nextDueAt =
    isDue || !isOpened
      ? await readNextDueTime(tx, id, limits, { now, isAgain: isDue })
      : earliest([known?.getTime(), ...momentsAfter(now, chains.released)]);
  const progress = await recordCounters(tx, batch, changes, { nextDueAt, now });
  if (consumed >= EVENTS_LIMIT) progress.nextDueAt = now.getTime();
  if (cancels.some(isOfWholeBatch)) progress.wasCanceled = true;
  return { progress, events: consumed, isClosed: batch.open_count > 0 && progress.open === 0 };
}

async function recordPackages(tx: Sql, changes: readonly Change[]): Promise<void> {
  const changed = changes.flatMap(({ to, packageIds }) => (to === 'succeeded' ? (packageIds ?? []) : []));
  if (changed.length > 0) await recordPackageChanges(tx, changed);
}

function momentsAfter(now: Date, released: readonly Released[]): number[] {
  return released.filter(({ deliver_at }) => deliver_at > now).map(({ deliver_at }) => deliver_at.getTime());
}
