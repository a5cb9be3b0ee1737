import { ACTIVITIES, AUDIT_REPORTS, DELIVERED, OUTBOX_CHANNEL } from '../../src/persistence/activities/outbox.sql.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import type { RepairMade } from '../../src/services/activities/workflows.ts';
import { type BatchRepairDeps, repairBatch } from '../../src/services/engine/repairs.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { createWorkflows, type WorkflowsOptions } from '../reconciler/ports.ts';
import { AHEAD_MS, dueRunsPoll } from './due-runs.ts';
import { inboxPoll } from './inbox.ts';
import { startListener } from './listener.ts';
import { type Poll, startLoop } from './loop.ts';
import { outboxPoll } from './outbox.ts';
import { DELIVERY_WAIT_MS, type ReportNotifications } from './report-notifications.ts';
import { scheduleCommandsPoll } from './schedule-commands.ts';
import type { WakeUpSettings } from './wake-up-planner.ts';
import { webhooksPoll } from './webhooks.ts';

interface DispatcherOptions extends Omit<BatchRepairDeps, 'workflows'>, WorkflowsOptions {
  /** Runs the statements of the outbox. */
  genericPlanDb: Database;
  settings: WakeUpSettings;
  kinds: ProfileKinds;
  clock: { now(): Date };
  count?: (what: DispatcherEvent) => void;
  repaired?: (outcome: RepairMade) => void;
  reports: ReportNotifications;
  /** Called when audit reports may wait. */
  onReports?: () => void;
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

/** Only fallbacks: NOTIFY wakes the outbox, and the inbox for events of small batches. */
const OUTBOX_POLL_MS = 1_000;
const INBOX_POLL_MS = 500;
/** With nothing to do, polls become as rare as this. */
const IDLE_POLL_MS = 10_000;
const DUE_RUNS_POLL_MS = 2_000;
const WEBHOOKS_POLL_MS = 1_000;

/** Passes work from the rows to Temporal. Several are safe. @see docs/architecture.md#starting-it */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, logger, count = () => undefined } = options;
  const workflows = createWorkflows(options);
  const deps = { ...options, workflows, starter: workflows, count };
  const loop = (name: string, everyMs: number, poll: Poll, idleMs = IDLE_POLL_MS) =>
    startLoop({ name, everyMs, idleMs, poll, logger, onFailure: () => count('failed') });
  const repair = async (batch: number): Promise<void> => {
    const outcome = await repairBatch(deps, batch);
    if (outcome !== 'none') options.repaired?.(outcome);
  };
  const outbox = loop('outbox', OUTBOX_POLL_MS, outboxPoll(deps));
  // Separate, so that schedules do not delay starts.
  const schedules = loop('schedules', OUTBOX_POLL_MS, scheduleCommandsPoll(deps));
  const onCommands = (what = ''): void => {
    outbox.wake();
    if (what !== ACTIVITIES) schedules.wake();
    // Of new batches and changed profiles.
    inbox.wake(INBOX_POLL_MS);
    dueRuns.wake(DUE_RUNS_POLL_MS);
    webhooks.wake(WEBHOOKS_POLL_MS);
  };
  const onEvents = (event = ''): void => {
    if (event === AUDIT_REPORTS) options.onReports?.();
    else if (event === DELIVERED) inbox.wake(DELIVERY_WAIT_MS);
    else {
      inbox.wake();
      options.reports.publish(event.split(' ').map(Number));
    }
  };
  const listener = startListener(db, logger, {
    onNotify: (channel, payload) => (channel === OUTBOX_CHANNEL ? onCommands : onEvents)(payload),
    onMissed() {
      onCommands();
      onEvents();
      options.onReports?.();
    },
  });
  const { isLeader } = listener;
  const events = { ...deps, repair, isLeader };
  const inbox = loop('inbox', INBOX_POLL_MS, inboxPoll(events));
  const dueRuns = loop('due-runs', DUE_RUNS_POLL_MS, dueRunsPoll({ ...deps, isLeader }), AHEAD_MS);
  const webhooks = loop('webhooks', WEBHOOKS_POLL_MS, webhooksPoll({ ...deps, isLeader }));
  return {
    isLeader,
    async stop() {
      await Promise.all([outbox, schedules, inbox, dueRuns, webhooks, listener].map((part) => part.stop()));
    },
  };
}
