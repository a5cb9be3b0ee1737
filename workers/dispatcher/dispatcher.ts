import { OUTBOX_CHANNEL, RESULTS_CHANNEL } from '../../src/persistence/activities/outbox.sql.ts';
import type { RepairMade } from '../../src/services/activities/workflows.ts';
import { type BatchRepairDeps, repairBatch } from '../../src/services/engine/repairs.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { createWorkflows, type WorkflowsOptions } from '../reconciler/ports.ts';
import { dueRunsPoll } from './due-runs.ts';
import { inboxPoll } from './inbox.ts';
import { startListener } from './listener.ts';
import { type Poll, startLoop } from './loop.ts';
import { outboxPoll } from './outbox.ts';
import { scheduleCommandsPoll } from './schedule-commands.ts';
import type { WakeUpSettings } from './wake-up-planner.ts';

export interface DispatcherOptions extends Omit<BatchRepairDeps, 'workflows'>, WorkflowsOptions {
  settings: WakeUpSettings;
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

/** Only fallbacks: NOTIFY wakes the outbox, and the inbox for results of small batches. */
const OUTBOX_POLL_MS = 1_000;
const INBOX_POLL_MS = 500;
/** Under load, polls of the inbox take at most a quarter of one connection's time. */
const INBOX_REST_SHARE = 3;
const DUE_RUNS_MS = 2_000;

/** Passes work from the rows to Temporal. Several are safe. @see docs/architecture.md#starting-it */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, logger, count = () => undefined } = options;
  const workflows = createWorkflows(options);
  const deps = { ...options, workflows, starter: workflows, count };
  const loop = (name: string, everyMs: number, poll: Poll, restShare?: number) =>
    startLoop({ name, everyMs, restShare, poll, logger, onFailure: () => count('failed') });
  const repair = async (batch: number): Promise<void> => {
    const outcome = await repairBatch(deps, batch);
    if (outcome !== 'none') options.repaired?.(outcome);
  };
  const outbox = loop('outbox', OUTBOX_POLL_MS, outboxPoll(deps));
  // Separate, so that schedules do not delay starts.
  const schedules = loop('schedules', OUTBOX_POLL_MS, scheduleCommandsPoll(deps));
  const listener = startListener(db, logger, (channel) => {
    if (channel !== OUTBOX_CHANNEL) inbox.wake();
    if (channel === RESULTS_CHANNEL) return;
    outbox.wake();
    schedules.wake();
  });
  const { isLeader } = listener;
  const inbox = loop('inbox', INBOX_POLL_MS, inboxPoll({ ...deps, repair, isLeader }), INBOX_REST_SHARE);
  const dueRuns = loop('due-runs', DUE_RUNS_MS, dueRunsPoll({ ...deps, isLeader }));
  return {
    isLeader,
    async stop() {
      await Promise.all([outbox, schedules, inbox, dueRuns, listener].map((part) => part.stop()));
    },
  };
}
