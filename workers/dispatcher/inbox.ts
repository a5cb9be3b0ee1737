import type { Client } from '@temporalio/client';
import { isDatabaseUnavailable } from '../../src/persistence/database/errors.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import { type BatchEvents, readBatchesWithEvents } from '../../src/persistence/engine/pending-events.repository.ts';
import type { Logger } from '../../src/process/logger.ts';
import { FairQueue } from '../../src/services/common/fair-queue.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import { CALL_LIMIT_MS } from '../../temporal/connection.ts';
import { sendWakeUp } from './wake-up.ts';
import { WakeUpPlanner, type WakeUpSettings } from './wake-up-planner.ts';
import { isServerAway, RefusedEntries } from './refused.ts';

export interface InboxDeps {
  db: Database;
  client: Client;
  engine: Engine;
  settings: WakeUpSettings;
  logger: Logger;
  /** Gives a lane a workflow again, or closes it. */
  repair: (lane: number) => Promise<unknown>;
  /** Whether this relay is the one that nudges; the others only look after what stays lying. */
  isLeader: () => boolean;
  /** Called per nudge, per lane settled here because its workflow is closed, and per lane that is put off. */
  count: (what: 'nudged' | 'repeated' | 'late' | 'refused') => void;
}

const CONCURRENT = 20;
/** A relay that is not the leader takes what the leader left lying for this long, in seconds. */
const ABANDONED_AFTER_S = 10;
const SPECTATOR_REST_MS = 2_000;
/** A look that took long, because much has piled up, is followed by a rest of so many times its length. */
const REST_SHARE = 3;
/** A look may also have hung with the database: that says nothing about the next one. */
const LONGEST_REST_MS = 2_000;

type Due = BatchEvents & { repeated: boolean };

/** What a relay remembers of the lanes it told; lost without harm. */
interface Memory {
  planner: WakeUpPlanner;
  refused: RefusedEntries;
}

/**
 * Makes the round of a loop: looks which lanes have news and nudges those that are due; settles news of lanes whose
 * workflow has ended itself.
 * @remarks Nudges carry nothing and may be lost or doubled; news stays in the inbox until a lane takes it. A lane that
 * cannot be told waits by itself and holds up no other.
 * @see docs/architecture.md#applying-the-result
 */
export function inboxPoll(deps: InboxDeps): () => Promise<boolean> {
  const memory: Memory = { planner: new WakeUpPlanner(deps.settings), refused: new RefusedEntries() };
  let restUntil = 0;
  let wasLeader = false;
  return async () => {
    const began = performance.now();
    const isLeader = deps.isLeader();
    if (began < restUntil && isLeader === wasLeader) return false;
    wasLeader = isLeader;
    const news = await readBatchesWithEvents(deps.db, isLeader ? 0 : ABANDONED_AFTER_S);
    const now = performance.now();
    restUntil = now + (isLeader ? Math.min((now - began) * REST_SHARE, LONGEST_REST_MS) : SPECTATOR_REST_MS);
    const due = pick(memory, news, now);
    if (due.length > 0) await deps.client.withDeadline(Date.now() + CALL_LIMIT_MS, () => wakeAll(deps, memory, due));
    return false;
  };
}

function pick({ planner, refused }: Memory, news: readonly BatchEvents[], now: number): Due[] {
  refused.keep(new Set(news.map(({ lane }) => lane)));
  const waiting = new Set(refused.waiting(now));
  return planner.pick(waiting.size === 0 ? news : news.filter(({ lane }) => !waiting.has(lane)), now);
}

/**
 * @throws the first error of a server that is away, once every call has ended; lanes not reached by then are due again
 * in the next round
 */
async function wakeAll(deps: InboxDeps, memory: Memory, due: readonly Due[]): Promise<void> {
  const { planner, refused } = memory;
  const queue = inTurns(due);
  const worker = async (): Promise<void> => {
    for (let lane = queue.shift(); lane !== undefined; lane = queue.shift()) {
      try {
        await wakeBatch(deps, lane);
        refused.forget([lane.lane]);
      } catch (error) {
        if (isServerAway(error) || isDatabaseUnavailable(error)) {
          for (const { lane: id } of [lane, ...queue.splice(0)]) planner.retry(id);
          throw error;
        }
        putOff(deps, memory, lane, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(CONCURRENT, queue.length) }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

function putOff({ logger, count }: InboxDeps, { planner, refused }: Memory, lane: Due, error: unknown): void {
  const { lane: laneId, workflowId } = lane;
  planner.retry(laneId);
  refused.add(laneId);
  count('refused');
  logger.error({ laneId, workflowId, err: error }, 'a lane could not be told of its news, trying again later');
}

/** Accounts take turns, and within one the small lanes come first: somebody may be waiting for those. */
function inTurns(due: readonly Due[]): Due[] {
  const turns = new FairQueue<Due>();
  for (const lane of due.toSorted((a, b) => a.size - b.size)) turns.push(lane.account, lane);
  return due.map(() => turns.next()!.item);
}

async function wakeBatch(deps: InboxDeps, lane: Due): Promise<void> {
  if (lane.open === 0) {
    await deps.engine.processPendingEvents(lane.lane, false);
    deps.count('late');
    return;
  }
  if (await sendWakeUp(deps.client, lane.workflowId)) {
    deps.count('nudged');
    if (lane.repeated) deps.count('repeated');
  } else await deps.repair(lane.lane);
}
