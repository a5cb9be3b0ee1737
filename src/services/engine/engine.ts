import { DAY_MS } from '../../domain/common/durations.ts';
import type { BatchPlan, BatchProgress, GroupProgress } from '../../domain/engine/progress.ts';
import { type ChildCounts, countDifference, rollUp } from '../../domain/engine/roll-up.ts';
import { queueMessages } from '../../persistence/activities/agent-messages.sql.ts';
import { wakeDispatchers } from '../../persistence/activities/outbox.sql.ts';
import { recordPackageChanges } from '../../persistence/activities/package-changes.sql.ts';
import { recordAuditProgress } from '../../persistence/compliance/usg-audits.sql.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { useDefaultPlanning } from '../../persistence/database/transactions.ts';
import {
  type BatchCounters,
  type BatchTurn,
  cancelOpenedBatches,
  endGroup,
  type LockedBatch,
  lockBatch,
  moveCounters,
  type MovedGroup,
  readBatchTurn,
  readGroupProgress,
  readOpenBatches,
  readUnopenedBatches,
  setGroupDelivered,
  setGroupUndelivered,
} from '../../persistence/engine/batches.sql.ts';
import type { Change, Released } from '../../persistence/engine/operations.sql.ts';
import { applyPendingEvents, EVENTS_LIMIT, hasEvents } from '../../persistence/engine/pending-events.sql.ts';
import { wakeWaiting } from '../../persistence/engine/prior-activities.sql.ts';
import type { ActivitySettings } from '../../process/config.ts';
import type { Clock } from '../common/ports.ts';
import { cancelRequested, isOfWholeBatch } from './cancel-requested.ts';
import { endedIn, moveChains } from './chains.ts';
import { dueTimeAfter, earliest, expireOperations, readNextDueTime } from './due-times.ts';
import { listGroupOperations, nameOperations } from './named-operations.ts';

/** Longest timer; waking up earlier than necessary does no harm. */
const LONGEST_WAIT_MS = 365 * DAY_MS;

/** `genericPlanDb` processes batches; large ones return to default planning. */
interface EngineOptions {
  db: Database;
  genericPlanDb: Database;
  clock: Clock;
  settings: Pick<ActivitySettings, 'expiryDays'>;
  /** Called for each processed batch with the number of events, and whether its last operation has just ended. */
  onProcessed?(events: number, isClosed: boolean): void;
}

/**
 * Changes operations after their creation; nothing else does. Each call is one transaction per batch under its row lock
 * and can be repeated. Lock order: batch, messages, own rows, the group last.
 * @see docs/architecture.md#processing-pending-events
 */
export interface Engine {
  /** Account and size class of a batch, for the concurrency limiter, and whether to wait for a report. */
  turnOf(batch: number): Promise<BatchTurn>;
  /**
   * Applies the pending events of a batch; the first call opens it. Results may replace `canceled` after the workflow.
   * The state is from its rows: `nextDueAt` is now if events remain; without a row nothing is open.
   */
  processPendingEvents(batch: number, cancelAll: boolean): Promise<BatchProgress>;
  /** Batches with open operations, in order. */
  listOpenBatches(group: number): Promise<BatchPlan[]>;
  /** Group state from its row; `cancelAll` cancels unopened batches and requests it of others. @throws if unknown */
  getGroupProgress(group: number, cancelAll: boolean): Promise<GroupProgress>;
}

export function createEngine(options: EngineOptions): Engine {
  const { db, genericPlanDb, clock } = options;
  const process = (batch: number, cancelAll: boolean) =>
    genericPlanDb.transaction((tx) => moveBatch(tx, batch, cancelAll, options));
  return {
    turnOf: async (batch) => (await readBatchTurn(genericPlanDb, batch)) ?? NO_TURN,
    async processPendingEvents(batch, cancelAll) {
      const first = await process(batch, cancelAll);
      // Dispatchers skip a batch until it is opened: no wake-up follows for what came in this transaction.
      const isRepeated = first.isOpening && first.progress.open > 0 && (await hasEvents(genericPlanDb, batch));
      const { progress, events, isClosed, changes } = isRepeated ? combine(first, await process(batch, false)) : first;
      options.onProcessed?.(events, isClosed);
      const named = await nameOperations(genericPlanDb, batch, { open: progress.open, changes, now: clock.now() });
      return { ...progress, ...named };
    },
    async listOpenBatches(group) {
      const plans = await readOpenBatches(db, group);
      const open = await listGroupOperations(db, group, clock.now());
      return plans.map((plan) => ({ ...plan, operations: open.filter((of) => of.workflowId === plan.workflowId) }));
    },
    async getGroupProgress(group, cancelAll) {
      if (cancelAll) {
        for (const batch of await readUnopenedBatches(db, group)) await process(batch, true);
        await db.transaction(async (tx) => {
          if (await cancelOpenedBatches(tx, group, clock.now())) await wakeDispatchers(tx);
        });
      }
      const progress = await readGroupProgress(db, group);
      if (progress.open === 0) return progress;
      return { ...progress, operations: await listGroupOperations(db, group, clock.now()) };
    },
  };
}

interface Processed {
  progress: BatchProgress;
  events: number;
  isOpening: boolean;
  isClosed: boolean;
  changes: readonly Change[];
}

function combine(first: Processed, second: Processed): Processed {
  return {
    ...second,
    progress: { ...first.progress, ...second.progress },
    events: first.events + second.events,
    changes: [...first.changes, ...second.changes],
  };
}

const NO_TURN: BatchTurn = { account: 0, isLarge: false, isReportExpected: false };
const NOTHING: BatchProgress = { open: 0, succeeded: 0, failed: 0, canceled: 0, nextDueAt: null, waitingFor: [] };

async function moveBatch(
  tx: Sql,
  id: number,
  cancelAll: boolean,
  { clock, settings: { expiryDays } }: EngineOptions,
): Promise<Processed> {
  const batch = await lockBatch(tx, id);
  if (!batch) return { progress: NOTHING, events: 0, isOpening: false, isClosed: false, changes: [] };
  if (batch.isLarge) await useDefaultPlanning(tx);
  const now = clock.now();
  const isOpened = batch.opened_at !== null;
  const limits = { expiryDays, answerSeconds: batch.answer_seconds };
  const { consumed, changes: applied, cancels } = await applyPendingEvents(tx, batch, now);
  const changes = [...applied];
  await recordPackages(tx, applied);
  const known = dueTimeAfter(batch.next_due_at, applied, limits, now);
  // Unread events may contain results, so nothing expires before they are processed.
  const isDue = known !== null && known <= now && consumed < EVENTS_LIMIT;
  if (isDue) changes.push(...(await expireOperations(tx, id, limits, now)));
  changes.push(...(await cancelRequested(tx, id, cancels, { cancelAll, now })));
  const chains = await moveChains(tx, batch, changes, now);
  changes.push(...chains.canceled);
  if (batch.awaited) await wakeWaiting(tx, endedIn(batch, changes), now);
  const difference = countDifference(changes);
  const isDone = batch.open_count + difference.open === 0;
  const released = chains.released.map((operation) => operation.id);
  if (!isDone) await queueMessages(tx, { batch: id, operations: isOpened ? released : null, now });
  if (batch.usg_run_id !== null) await recordAuditProgress(tx, batch.usg_run_id, changes, now);
  const nextDueAt =
    !isDone && (isDue || !isOpened)
      ? await readNextDueTime(tx, id, limits, { now, isAgain: isDue })
      : earliest([known?.getTime(), ...momentsAfter(now, chains.released)]);
  const progress = await recordCounters(tx, batch, changes, { difference, nextDueAt, now });
  if (consumed >= EVENTS_LIMIT) progress.nextDueAt = now.getTime();
  if (cancels.some(isOfWholeBatch)) progress.wasCanceled = true;
  const isClosed = batch.open_count > 0 && isDone;
  return { progress, events: consumed, isOpening: !isOpened, isClosed, changes };
}

async function recordPackages(tx: Sql, changes: readonly Change[]): Promise<void> {
  const changed = changes.flatMap(({ to, packageIds }) => (to === 'succeeded' ? (packageIds ?? []) : []));
  if (changed.length > 0) await recordPackageChanges(tx, changed);
}

function momentsAfter(now: Date, released: readonly Released[]): number[] {
  return released.filter(({ deliver_at }) => deliver_at > now).map(({ deliver_at }) => deliver_at.getTime());
}

/** Updates the counters of a batch, and counters and status of its group. @returns the state of the batch */
async function recordCounters(
  tx: Sql,
  batch: LockedBatch,
  changes: readonly Change[],
  at: { difference: ChildCounts; nextDueAt: Date | null; now: Date },
): Promise<BatchProgress> {
  const isSame = at.nextDueAt?.getTime() === batch.next_due_at?.getTime();
  if (changes.length === 0 && batch.opened_at !== null && isSame) return progressOf(batch, batch, at.now);
  const deliveries = changes.flatMap(({ deliveredAt }) => deliveredAt ?? []);
  // The delivery of a canceled operation changes no counter, but it starts the group.
  const isMoved = Object.values(at.difference).some((value) => value !== 0) || deliveries.length > 0;
  const group = isMoved ? batch.parent_id : null;
  const deliveredAt = deliveries.length > 0 ? new Date(Math.min(...deliveries)) : null;
  const moved = await moveCounters(tx, { ...at, batch: batch.id, group, deliveredAt });
  if (group !== null && moved.group) await setGroupStatus(tx, group, moved.group, changes);
  return progressOf(batch, moved, at.now);
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

/** @param moved - its counters after the changes */
async function setGroupStatus(tx: Sql, group: number, moved: MovedGroup, changes: readonly Change[]): Promise<void> {
  const status = rollUp(moved, moved.isDelivered);
  if (moved.open === 0) {
    const ends = changes.flatMap(({ endedAt }) => endedAt ?? []);
    await endGroup(tx, group, status, ends.length > 0 ? new Date(Math.max(...ends)) : null);
  } else if (status !== moved.status) {
    await (status === 'delivered' ? setGroupDelivered(tx, group) : setGroupUndelivered(tx, group));
  }
}
