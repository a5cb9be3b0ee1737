import type { Client } from '@temporalio/client';
import type { Database } from '../../src/persistence/database/sql.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { Engine } from '../../src/services/engine/engine.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { inboxPoll } from './inbox.ts';
import { lateRunsPoll } from './late-runs.ts';
import { startListener } from './listener.ts';
import { startLoop } from './loop.ts';
import type { WakeUpSettings } from './wake-up-planner.ts';
import { outboxPoll } from './outbox.ts';
import { type RepairMade, repairBatch, type StuckReason } from './repair.ts';
import { scheduleCommandsPoll } from './schedule-commands.ts';
import { createStarter } from './starter.ts';

export interface DispatcherOptions {
  db: Database;
  client: Client;
  engine: Engine;
  settings: WakeUpSettings;
  /** Base of the links that operators see beside a workflow. */
  publicUrl: string;
  logger: Logger;
  /** Kinds of profiles that schedules start. */
  kinds: ProfileKinds;
  clock: { now(): Date };
  /** Counts what the relay did, for metrics and tests. */
  count?: (what: DispatcherEvent) => void;
  /** The build of this process; absent for a worker without a version. */
  buildId?: string;
  /** Called each time a workflow is found that cannot go on. */
  stuck?: (reason: StuckReason) => void;
  /** Called once per lane whose workflow was lost, when it is repaired. */
  repaired?: (outcome: RepairMade) => void;
}

/**
 * `late`: news of a lane settled whose workflow had ended. `repeated`: a nudge whose news had not been taken.
 * `refused`: an entry that the server did not take, or a lane that could not be told of its news. `failed`: a round that
 * came to nothing.
 */
export const DISPATCHER_EVENTS = [
  'scheduled',
  'started',
  'canceled',
  'nudged',
  'repeated',
  'late',
  'refused',
  'failed',
] as const;
export type DispatcherEvent = (typeof DISPATCHER_EVENTS)[number];

export interface Dispatcher {
  /** Whether this relay is the one that nudges. */
  isLeader(): boolean;
  /** Ends after the calls that are under way. */
  stop(): Promise<void>;
}

const INBOX_TICK_MS = 100;
/** Only a safety net: NOTIFY wakes the outbox. */
const OUTBOX_POLL_MS = 1_000;
const LATE_DATES_MS = 2_000;

/**
 * Carries news from the rows to the workflows: starts and cancels from the outbox, nudges from the inbox, schedules of profiles
 * from the outbox.
 * @remarks Runs beside every worker of the activity queue; several at once are safe. It survives the loss of either
 * side and goes on where the rows stand.
 * @see docs/architecture.md#starting-it
 */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, client, engine, settings, logger } = options;
  const count = options.count ?? (() => undefined);
  const starter = createStarter(client, options.publicUrl);
  const repair = async (lane: number): Promise<void> => {
    const outcome = await repairBatch({ ...options, starter }, lane);
    if (outcome !== 'none') options.repaired?.(outcome);
  };
  const outbox = startLoop({
    name: 'outbox',
    everyMs: OUTBOX_POLL_MS,
    round: outboxPoll({ db, client, starter, logger, count }),
    logger,
    onFailure: () => count('failed'),
  });
  const { kinds, clock } = options;
  // Apart from the starts, which schedules must not hold up.
  const schedules = startLoop({
    name: 'schedules',
    everyMs: OUTBOX_POLL_MS,
    round: scheduleCommandsPoll({ db, client, kinds, clock, logger, count }),
    logger,
    onFailure: () => count('failed'),
  });
  const listener = startListener(db, logger, () => {
    outbox.wake();
    schedules.wake();
  });
  const inbox = startLoop({
    name: 'inbox',
    everyMs: INBOX_TICK_MS,
    round: inboxPoll({ db, client, engine, settings, logger, repair, isLeader: listener.isLeader, count }),
    logger,
    onFailure: () => count('failed'),
  });
  const lateDates = startLoop({
    name: 'late-dates',
    everyMs: LATE_DATES_MS,
    round: lateRunsPoll({ client, kinds, clock, logger, isLeader: listener.isLeader }),
    logger,
    onFailure: () => count('failed'),
  });
  return {
    isLeader: listener.isLeader,
    async stop() {
      await Promise.all([outbox.stop(), schedules.stop(), inbox.stop(), lateDates.stop(), listener.stop()]);
    },
  };
}
