import type { Client } from '@temporalio/client';
import { isDatabaseUnavailable } from '../../src/persistence/database/errors.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import { type BatchEvents, readBatchesWithEvents } from '../../src/persistence/engine/pending-events.sql.ts';
import { ConcurrencyLimiter } from '../../src/process/admission/concurrency-limiter.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import { CALL_LIMIT_MS } from '../../temporal/client/connection.ts';
import { RELEASED_WAKE_UP_SIGNAL, WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';
import { sendWakeUp } from '../../temporal/client/workflow-calls.ts';
import type { Poll } from './loop.ts';
import { isServerUnavailable, RejectedEntries } from './rejected.ts';
import { WakeUpPlanner, type WakeUpSettings } from './wake-up-planner.ts';

export interface InboxDeps {
  db: Database;
  client: Client;
  engine: Engine;
  settings: WakeUpSettings;
  logger: Logger;
  repair: (batch: number) => Promise<unknown>;
  /** Whether this dispatcher sends wake-ups; the others only handle events that the leader left behind. */
  isLeader: () => boolean;
  count: (what: 'nudged' | 'repeated' | 'late' | 'refused') => void;
}

const CONCURRENT = 20;
/** Followers take over events that the leader left pending for this long. */
const ABANDONED_AFTER_S = 10;
const FOLLOWER_REST_MS = 2_000;
const PENDING_POLL_MS = 100;
/** Under load, reading takes at most a quarter of one connection's time. */
const REST_SHARE = 3;

type Due = BatchEvents & { repeated: boolean };

interface Memory {
  planner: WakeUpPlanner;
  rejected: RejectedEntries;
}

/**
 * Wakes due batches; applies events of those without a workflow. While some are pending, the next poll
 * comes sooner.
 * @see docs/architecture.md#applying-the-result
 */
export function inboxPoll(deps: InboxDeps): Poll {
  const memory: Memory = { planner: new WakeUpPlanner(deps.settings), rejected: new RejectedEntries() };
  let restUntil = 0;
  return async () => {
    const isLeader = deps.isLeader();
    if (!isLeader && performance.now() < restUntil) return false;
    restUntil = isLeader ? 0 : performance.now() + FOLLOWER_REST_MS;
    const startedAt = performance.now();
    const pending = await readBatchesWithEvents(deps.db, isLeader ? 0 : ABANDONED_AFTER_S);
    const readAt = performance.now();
    const due = pick(memory, pending, readAt);
    if (due.length > 0) await deps.client.withDeadline(Date.now() + CALL_LIMIT_MS, () => wakeAll(deps, memory, due));
    return { next: pending.length > 0 && PENDING_POLL_MS, restMs: (readAt - startedAt) * REST_SHARE };
  };
}

function pick({ planner, rejected }: Memory, pending: readonly BatchEvents[], now: number): Due[] {
  rejected.keep(new Set(pending.map(({ id }) => id)));
  const waiting = new Set(rejected.waiting(now));
  return planner.pick(waiting.size === 0 ? pending : pending.filter(({ id }) => !waiting.has(id)), now);
}

/** Accounts take turns, small batches first. @throws the error of an unavailable server, once all calls have ended */
async function wakeAll(deps: InboxDeps, memory: Memory, due: readonly Due[]): Promise<void> {
  const { planner, rejected } = memory;
  const limiter = new ConcurrencyLimiter({ concurrency: CONCURRENT });
  let unavailable: unknown = null;
  const wake = async (batch: Due): Promise<void> => {
    if (unavailable) return planner.retry(batch.id);
    try {
      await wakeBatch(deps, batch);
      rejected.delete([batch.id]);
    } catch (error) {
      if (isServerUnavailable(error) || isDatabaseUnavailable(error)) {
        planner.retry(batch.id);
        unavailable ??= error;
      } else postpone(deps, memory, batch, error);
    }
  };
  const smallFirst = due.toSorted((a, b) => a.size - b.size);
  await Promise.all(smallFirst.map((batch) => limiter.run(batch.account, () => wake(batch))));
  if (unavailable) throw unavailable;
}

function postpone({ logger, count }: InboxDeps, { planner, rejected }: Memory, batch: Due, error: unknown): void {
  const { id: batchId, workflowId } = batch;
  planner.retry(batchId);
  rejected.add(batchId);
  count('refused');
  logger.error({ batchId, workflowId, err: error }, 'a batch could not be woken; will retry');
}

async function wakeBatch(deps: InboxDeps, batch: Due): Promise<void> {
  if (batch.open === 0) {
    await deps.engine.processPendingEvents(batch.id, false);
    deps.count('late');
    return;
  }
  // Beside this worker an older build may run the workflow, during an upgrade or after a rollback.
  const signal = batch.repeated ? RELEASED_WAKE_UP_SIGNAL : WAKE_UP_SIGNAL;
  if (await sendWakeUp(deps.client, batch.workflowId, signal)) {
    deps.count('nudged');
    if (batch.repeated) deps.count('repeated');
  } else await deps.repair(batch.id);
}
