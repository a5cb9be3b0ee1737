import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { inboxPoll } from './inbox.ts';
import { lateRunsPoll } from './late-runs.ts';
import { startListener } from './listener.ts';
import { startLoop } from './loop.ts';
import { outboxPoll } from './outbox.ts';
import { type RepairDeps, type RepairMade, repairBatch } from './repair.ts';
import { scheduleCommandsPoll } from './schedule-commands.ts';
import { createStarter } from './starter.ts';
import type { WakeUpSettings } from './wake-up-planner.ts';

export interface DispatcherOptions extends Omit<RepairDeps, 'starter'> {
  settings: WakeUpSettings;
  publicUrl: string;
  kinds: ProfileKinds;
  clock: { now(): Date };
  count?: (what: DispatcherEvent) => void;
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
  isLeader(): boolean;
  stop(): Promise<void>;
}

const INBOX_TICK_MS = 100;
/** Only a fallback: NOTIFY wakes the outbox. */
const OUTBOX_POLL_MS = 1_000;
const LATE_RUNS_MS = 2_000;

/** Passes work from the rows to Temporal. Several are safe. @see docs/architecture.md#starting-it */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, logger, count = () => undefined } = options;
  const starter = createStarter(options.client, options.publicUrl);
  const deps = { ...options, starter, count };
  const loop = (name: string, everyMs: number, poll: () => Promise<boolean>) =>
    startLoop({ name, everyMs, poll, logger, onFailure: () => count('failed') });
  const repair = async (batch: number): Promise<void> => {
    const outcome = await repairBatch(deps, batch);
    if (outcome !== 'none') options.repaired?.(outcome);
  };
  const outbox = loop('outbox', OUTBOX_POLL_MS, outboxPoll(deps));
  // Separate, so that schedules do not delay starts.
  const schedules = loop('schedules', OUTBOX_POLL_MS, scheduleCommandsPoll(deps));
  const listener = startListener(db, logger, () => {
    outbox.wake();
    schedules.wake();
  });
  const { isLeader } = listener;
  const inbox = loop('inbox', INBOX_TICK_MS, inboxPoll({ ...deps, repair, isLeader }));
  const lateRuns = loop('late-runs', LATE_RUNS_MS, lateRunsPoll({ ...deps, isLeader }));
  return {
    isLeader,
    async stop() {
      await Promise.all([outbox, schedules, inbox, lateRuns, listener].map((part) => part.stop()));
    },
  };
}
