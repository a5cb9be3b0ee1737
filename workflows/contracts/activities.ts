import type { ActivityStatus } from '../../src/domain/activities/status.ts';
import type {
  BatchPlan,
  BatchProgress,
  GroupOperation,
  GroupProgress,
  OpenOperation,
} from '../../src/domain/engine/progress.ts';
import type { DueOutcome, RunStart } from '../../src/domain/schedules/profile-schedule.ts';
import type { PurgedActivities, ReconcileCursor, ReconcileResult, RetentionCursor } from './housekeeping.contract.ts';
import type { ProfileKindName } from './profile-trigger.contract.ts';
import type { WebhookInput, WebhookProgress } from './webhook.contract.ts';

export type { BatchPlan, BatchProgress, GroupOperation, GroupProgress, OpenOperation };

/**
 * Idempotent transactions, guarded by the old status. Attempted three times locally (20 s each, 25 s in all), then as
 * normal activities of 60 s, 1 s to 60 s apart, until they succeed. @throws {ApplicationFailure} of FAILURE_TYPES,
 * non-retryable; others while the database is down @see docs/architecture.md#processing-pending-events
 */
export interface EngineActivities {
  /**
   * Applies what is pending or due; the first call opens the batch; repeated, it returns the same. A batch without a
   * row has nothing open. @throws when it waited too long for a slot in this worker; nothing was started
   */
  processPendingEvents(input: ProcessPendingEvents): Promise<BatchProgress>;
  /** Lists the batches of a group that still have open operations. Read-only; empty for a missing group. */
  listOpenBatches(input: { group: number }): Promise<BatchPlan[]>;
  /** `cancelAll` cancels unopened batches and requests it of others. @throws `MissingRow` when the group was deleted */
  getGroupProgress(input: { group: number; cancelAll: boolean }): Promise<GroupProgress>;
}

/**
 * The steps of one computer, by what causes them. Each processes everything pending or due in one transaction, as
 * {@link EngineActivities.processPendingEvents} does for batches, so any of them may be lost, repeated or late.
 */
export interface OperationActivities {
  /** Queues the messages that are due for the agent; the first call, also after a restart from the rows. */
  queueMessage(input: { batch: number }): Promise<BatchProgress>;
  /** Records a delivery or a result that the agent reported, and queues the next operation of the chain. */
  recordReport(input: { batch: number }): Promise<BatchProgress>;
  /** Queues what has become due, and ends what got no result in time. */
  processDueTime(input: { batch: number }): Promise<BatchProgress>;
  /** Cancels every open operation. */
  cancelOperations(input: { batch: number }): Promise<BatchProgress>;
}

export interface ProcessPendingEvents {
  batch: number;
  /** Also cancel every open operation, because an operator canceled the workflow. */
  cancelAll: boolean;
}

/** Served by every queue whose workflows close as Canceled. Retried as {@link EngineActivities}. */
export interface CancelActivities {
  /** Without it the server would not record Canceled. Idempotent; has no effect on a closed run. */
  cancelRun(input: { workflowId: string; runId: string }): Promise<void>;
}

/** Names and arguments of 0.1.0, for histories that contain them. */
export interface ReleasedActivities {
  advance(batch: number, cancelAll: boolean): Promise<BatchProgress>;
  begin(activity: number): Promise<BatchPlan[]>;
  settle(activity: number, cancelAll: boolean): Promise<GroupProgress>;
  requestCancel(workflowId: string, runId: string): Promise<void>;
  generateReport(id: number): Promise<ActivityStatus>;
  endReport(id: number, status: 'failed' | 'canceled'): Promise<ActivityStatus>;
  startDueRun(kind: ProfileKindName, profileId: number, scheduledTime: string): Promise<DueOutcome>;
  refillSchedule(kind: ProfileKindName, profileId: number): Promise<void>;
  forgetActivities(after: RetentionCursor | null): Promise<{ gone: number; next: RetentionCursor | null }>;
  forgetAudits(): Promise<{ gone: number; more: boolean }>;
  reconcile(cursor: ReconcileCursor | null): Promise<ReconcileResult>;
}

/**
 * Idempotent, retried as {@link EngineActivities}. @throws {ApplicationFailure} `UnknownKind` for a kind of a newer
 * build @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileActivities {
  /** One per profile and date (ISO 8601 in UTC). Returns its activity, if new; else `known`, or why there is none. */
  startRun(input: { kind: ProfileKindName; profileId: number; scheduledTime: string }): Promise<RunStart>;
  /** Only when few are left. Returns the first new ones, ISO 8601 in UTC. @throws when computing them takes too long */
  extendSchedule(input: { kind: ProfileKindName; profileId: number }): Promise<{ planned: string[] }>;
}

/** Of the queue for reports. @see docs/architecture.md#task-queues */
export interface ReportActivities {
  /**
   * Idempotent. Restarts the file in each of up to thirty attempts of 6 h (heartbeat timeout 10 s; then the activity
   * fails); of two, one closes the activity. Returns the status of the row, maybe canceled. @throws {CancelledFailure}
   */
  writeReport(input: { activity: number }): Promise<ActivityStatus>;
}

/** Of the queue of a report's workflow. */
export interface ReportCloseActivities {
  /** Idempotent. Deletes what was written of it. Returns the status of its row. Retried as {@link EngineActivities}. */
  closeReport(input: { activity: number; status: 'failed' | 'canceled' }): Promise<ActivityStatus>;
}

/** Run daily by a Temporal Schedule. Idempotent; retried as {@link EngineActivities}. */
export interface AuditRetentionActivities {
  /** Some, in one transaction. Returns the number of rows, their runs, and whether there may be more. */
  purgeExpiredAudits(input: Record<never, never>): Promise<{ deletedCount: number; runs: number[]; more: boolean }>;
}

/** Run every minute by a Temporal Schedule. */
export interface ReconcileActivities {
  /**
   * Idempotent. A null cursor starts from the beginning. One attempt of 50 s: the next run repeats what is unfinished.
   * @throws when the database or server is down or a repair after a restore is in progress; completed work stays
   * @see docs/architecture.md#the-reconciler
   */
  reconcileWorkflows(input: { cursor: ReconcileCursor | null }): Promise<ReconcileResult>;
}

/** Run hourly by a Temporal Schedule. Idempotent; retried as {@link EngineActivities}. */
export interface RetentionActivities {
  /** A few whole groups in one transaction; a null `after` starts with the oldest. Returns where to continue. */
  purgeExpiredActivities(input: { after: RetentionCursor | null }): Promise<PurgedActivities>;
}

/** Run hourly by a Temporal Schedule. Idempotent; retried as {@link EngineActivities}. */
export interface HashIdDatabaseActivities {
  /** Code names of the releases that get a file; of a bounded number. */
  listReleases(input: Record<never, never>): Promise<{ codeNames: string[] }>;
  /** Replaces the file of one release in one transaction. Returns the number of its packages. */
  buildHashIdDatabase(input: { codeName: string }): Promise<{ packages: number }>;
}

/** Of webhooks. At least once: an attempt that ends before it is recorded is repeated with the same id and bytes. */
export interface WebhookActivities {
  /**
   * Gives new events a delivery and sends what is due, for up to about 20 seconds. Attempted until it succeeds (60 s each,
   * heartbeat timeout 10 s). @throws while the database is down
   */
  deliverWebhook(input: WebhookInput): Promise<WebhookProgress>;
}
