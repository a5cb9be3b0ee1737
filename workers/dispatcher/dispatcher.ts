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
  /** Base URL of the links shown with a workflow. */
  publicUrl: string;
  logger: Logger;
  kinds: ProfileKinds;
  clock: { now(): Date };
  /** Counts dispatcher events, for metrics and tests. */
  count?: (what: DispatcherEvent) => void;
  /** The build of this process; absent for an unversioned worker. */
  buildId?: string;
  /** Called each time a stuck workflow is found. */
  stuck?: (reason: StuckReason) => void;
  /** Called once for each batch whose lost workflow was repaired. */
  repaired?: (outcome: RepairMade) => void;
}

/**
 * `late`: applied pending events of a batch whose workflow had ended. `repeated`: a wake-up whose events were still
 * pending. `refused`: an outbox command or a wake-up that the server rejected. `failed`: a poll that failed.
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
  /** Whether this dispatcher sends the wake-ups. */
  isLeader(): boolean;
  /** Resolves when the calls in progress have ended. */
  stop(): Promise<void>;
}

const INBOX_TICK_MS = 100;
/** Only a fallback: NOTIFY wakes the outbox. */
const OUTBOX_POLL_MS = 1_000;
const LATE_RUNS_MS = 2_000;

/**
 * Passes work from the rows to Temporal: starts, cancels and schedule changes from the outbox, wake-ups for the inbox.
 * @remarks Runs in every worker process of the activity queue; several are safe. It survives the loss of either side
 * and resumes from the rows.
 * @see docs/architecture.md#starting-it
 */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, client, engine, settings, logger } = options;
  const count = options.count ?? (() => undefined);
  const starter = createStarter(client, options.publicUrl);
  const repair = async (batch: number): Promise<void> => {
    const outcome = await repairBatch({ ...options, starter }, batch);
    if (outcome !== 'none') options.repaired?.(outcome);
  };
  const outbox = startLoop({
    name: 'outbox',
    everyMs: OUTBOX_POLL_MS,
    poll: outboxPoll({ db, client, starter, logger, count }),
    logger,
    onFailure: () => count('failed'),
  });
  const { kinds, clock } = options;
  // Separate, so that schedules do not delay starts.
  const schedules = startLoop({
    name: 'schedules',
    everyMs: OUTBOX_POLL_MS,
    poll: scheduleCommandsPoll({ db, client, kinds, clock, logger, count }),
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
    poll: inboxPoll({ db, client, engine, settings, logger, repair, isLeader: listener.isLeader, count }),
    logger,
    onFailure: () => count('failed'),
  });
  const lateRuns = startLoop({
    name: 'late-runs',
    everyMs: LATE_RUNS_MS,
    poll: lateRunsPoll({ client, kinds, clock, logger, isLeader: listener.isLeader }),
    logger,
    onFailure: () => count('failed'),
  });
  return {
    isLeader: listener.isLeader,
    async stop() {
      await Promise.all([outbox.stop(), schedules.stop(), inbox.stop(), lateRuns.stop(), listener.stop()]);
    },
  };
}
