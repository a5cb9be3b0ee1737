import type { Client } from '@temporalio/client';
import type { BatchTurn } from '../../src/persistence/engine/batches.repository.ts';
import { ConcurrencyLimiter } from '../../src/services/common/concurrency-limiter.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import type { CancelActivities, LaneActivities } from '../../workflows/contracts/activities.ts';
import { requestCancelOf } from './request-cancel.ts';

/** Below the time that workflows give a step. */
const PATIENCE_MS = 15_000;
const REMEMBERED = 10_000;

export interface LaneActivitiesDeps {
  engine: Engine;
  client: Client;
  /** Steps that use the database at once; default 6, as many as a pool of usual size has room for. */
  width?: number;
}

/**
 * The steps of `activity` and `lane` over the lane store; each is harmless when run again.
 *
 * @remarks Accounts, and within one the small and the large lanes, take turns: the lanes of a large group settle
 * thousands of rows at a step and must not fill all places. What waited as long as the workflow does is not begun.
 */
export function createLaneActivities({
  engine,
  client,
  width = 6,
}: LaneActivitiesDeps): LaneActivities & CancelActivities {
  const gate = new ConcurrencyLimiter({
    concurrency: width,
    concurrencyPerKey: Math.max(1, Math.ceil(width / 2)),
    maxQueued: Number.POSITIVE_INFINITY,
    maxQueuedPerKey: Number.POSITIVE_INFINITY,
    queueTimeoutMs: PATIENCE_MS,
  });
  const turnOf = remember((lane) => engine.turnOf(lane));
  return {
    advance: async (lane, cancelAll) =>
      gate.run(await turnOf(lane), () => engine.processPendingEvents(lane, cancelAll)),
    begin: (activity) => engine.listOpenBatches(activity),
    settle: (activity, cancelAll) => engine.getGroupProgress(activity, cancelAll),
    requestCancel: requestCancelOf(client),
  };
}

/** Whose a lane is never changes. Keeps a bounded number of answers, the latest asked. */
function remember(ask: (lane: number) => Promise<BatchTurn>): (lane: number) => Promise<string> {
  const known = new Map<number, string>();
  return async (lane) => {
    const found = known.get(lane);
    if (found !== undefined) return found;
    const { account, isLarge } = await ask(lane);
    const turn = `${account} ${isLarge ? 'large' : 'small'}`;
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
    known.set(lane, turn);
    return turn;
  };
}
