import type { BatchPlan, BatchProgress, GroupProgress } from '../../domain/engine/progress.ts';
import { wakeDispatchers } from '../../persistence/activities/outbox.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import {
  type BatchTurn,
  cancelOpenedBatches,
  readBatchTurn,
  readOpenBatches,
  readUnopenedBatches,
  readWaitingComputers,
} from '../../persistence/engine/batches.repository.ts';
import { readGroupProgress } from '../../persistence/engine/groups.repository.ts';
import { type ProcessingOptions, processPendingEvents } from './process-pending-events.ts';

export interface EngineOptions extends ProcessingOptions {
  db: Database;
  /** Called for every batch that was processed: how many events were applied, and whether its last operation ended just now. */
  onProcessed?(events: number, isClosed: boolean): void;
}

/**
 * The one place that moves operations after their creation.
 *
 * @remarks Every call is one transaction per batch under the batch's row lock, starts from the rows as they are and can
 * run again at any time. Lock order: batch, messages, own rows, the group last.
 * @see docs/architecture.md#processing-pending-events
 */
export interface Engine {
  /** Whose turn a batch takes. */
  turnOf(batch: number): Promise<BatchTurn>;
  /**
   * Applies the pending events of a batch and opens it on the first call. Of a batch whose workflow has ended, results
   * may replace `canceled`.
   *
   * @param cancelAll - also cancel everything still open
   * @returns how the batch stands, read from its rows; `nextDueAt` is now when events are left over. A batch without a
   * row has nothing open
   */
  processPendingEvents(batch: number, cancelAll: boolean): Promise<BatchProgress>;
  /** The batches of a group that still have open operations, in order. */
  listOpenBatches(group: number): Promise<BatchPlan[]>;
  /**
   * How a group stands, read from its row; with `cancelAll` batches that were never opened are canceled first, and the
   * opened ones get a cancel.
   *
   * @throws when there is no such activity
   */
  getGroupProgress(group: number, cancelAll: boolean): Promise<GroupProgress>;
}

/** Computers are named once so few are open: three names of thousands say nothing, and finding them is a walk. */
const NAMED_UP_TO = 100;

/** Makes the engine; it keeps no state of its own. */
export function createEngine(options: EngineOptions): Engine {
  const { db, clock } = options;
  const process = (batch: number, cancelAll: boolean) =>
    db.transaction((tx) => processPendingEvents(tx, batch, cancelAll, options));
  return {
    turnOf: async (batch) => (await readBatchTurn(db, batch)) ?? { account: 0, isLarge: false },
    async processPendingEvents(batch, cancelAll) {
      const { progress, events, isClosed } = await process(batch, cancelAll);
      options.onProcessed?.(events, isClosed);
      if (progress.open === 0 || progress.open > NAMED_UP_TO) return progress;
      const { titles, count } = await readWaitingComputers(db, batch);
      return { ...progress, waitingFor: titles, moreWaiting: count - titles.length };
    },
    listOpenBatches: (group) => readOpenBatches(db, group),
    async getGroupProgress(group, cancelAll) {
      if (cancelAll) {
        for (const batch of await readUnopenedBatches(db, group)) await process(batch, true);
        await db.transaction(async (tx) => {
          if (await cancelOpenedBatches(tx, group, clock.now())) await wakeDispatchers(tx);
        });
      }
      return readGroupProgress(db, group);
    },
  };
}
