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

export type { BatchPlan, BatchProgress, GroupOperation, GroupProgress, OpenOperation };

/**
 * Activities of groups and batches: each an idempotent transaction that reads rows, guards changes by the old status.
 * @throws {ApplicationFailure} of a type of FAILURE_TYPES, non-retryable; any other error while the database is down
 * @remarks Attempted three times locally (20 s each, 25 s in all), then as normal activities of 60 s with 1 s to 60 s
 * between attempts, until they succeed.
 * @see docs/architecture.md#processing-pending-events
 */
export interface EngineActivities {
  /**
   * Applies the pending events of a batch, and what is due; the first call opens it. Repeated, it returns the same.
   * @returns the state of the batch and the changes; a batch without a row has nothing open
   * @throws when it waited too long for a slot in this worker; nothing was started
   */
  processPendingEvents(input: ProcessPendingEvents): Promise<BatchProgress>;
  /** Lists the batches of a group that still have open operations. Read-only; empty for a missing group. */
  listOpenBatches(input: { group: number }): Promise<BatchPlan[]>;
  /**
   * Reads the state of a group; with `cancelAll` first cancels unopened batches and requests a cancel of the others.
   * @throws {ApplicationFailure} of type `MissingRow` when the group was deleted (retention keeps open groups)
   */
  getGroupProgress(input: { group: number; cancelAll: boolean }): Promise<GroupProgress>;
}

export interface ProcessPendingEvents {
  batch: number;
  /** Also cancel every open operation, because an operator canceled the workflow. */
  cancelAll: boolean;
}

/** Served by every queue whose workflows close as Canceled. Retried as {@link EngineActivities}. */
export interface CancelActivities {
  /**
   * Requests a cancel of the calling run: without one the server does not record Canceled, although rows can be
   * canceled one by one. Idempotent; has no effect on a closed run.
   */
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
 * Activities of `profileTrigger`; each is idempotent. Retried as {@link EngineActivities}.
 * @throws {ApplicationFailure} of type `UnknownKind`, non-retryable, for a kind that only a newer build knows; any other
 * error while the database is down
 * @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileActivities {
  /**
   * Creates the run of one date in one transaction; there is at most one per profile and date.
   * @param input.scheduledTime - ISO 8601 in UTC
   * @returns the activity of a new run; otherwise `known`, or why the date has no run
   */
  startRun(input: { kind: ProfileKindName; profileId: number; scheduledTime: string }): Promise<RunStart>;
  /**
   * Plans further dates when few are left.
   * @returns the first planned dates, ISO 8601 in UTC; none when enough were left
   * @throws also when the dates of the stored rule cannot be computed in time
   */
  extendSchedule(input: { kind: ProfileKindName; profileId: number }): Promise<{ planned: string[] }>;
}

/** Activities of reports; each is idempotent. @see docs/architecture.md#task-queues */
export interface ReportActivities {
  /**
   * Creates the report of an activity, with heartbeats. Every attempt restarts the file; of two, one closes the activity.
   * @returns the status of the activity's row afterwards; it may have been canceled meanwhile
   * @throws {CancelledFailure} when the workflow was canceled, and other errors while the database is down
   * @remarks Up to thirty attempts of 6 h each, with a heartbeat timeout of 10 s; then the activity is closed as failed.
   */
  writeReport(input: { activity: number }): Promise<ActivityStatus>;
  /**
   * Closes an open activity without a report, and deletes what was written of it. Retried as {@link EngineActivities}.
   * @returns the status of its row
   */
  closeReport(input: { activity: number; status: 'failed' | 'canceled' }): Promise<ActivityStatus>;
}

/** Run daily by a Temporal Schedule. Idempotent; retried as {@link EngineActivities}. */
export interface AuditRetentionActivities {
  /**
   * Deletes some of the runs, results and reports past their account's retention time, in one transaction.
   * @returns the number of deleted rows, the runs they belong to, and whether there may be more
   */
  purgeExpiredAudits(input: Record<never, never>): Promise<{ deletedCount: number; runs: number[]; more: boolean }>;
}

/** Run every minute by a Temporal Schedule. */
export interface ReconcileActivities {
  /**
   * Reconciles rows, workflows and schedules where one side lost or missed something. Idempotent.
   * @param input.cursor - where the last completed run stopped; null starts from the beginning
   * @returns how many workflows it restarted or closed, the first of them, and where to continue
   * @throws when the database or the server is unavailable, or a repair after a restore is in progress; completed work
   * stays
   * @remarks One attempt of 50 s: the next run repeats what this one did not finish.
   * @see docs/architecture.md#the-reconciler
   */
  reconcileWorkflows(input: { cursor: ReconcileCursor | null }): Promise<ReconcileResult>;
}

/** Run hourly by a Temporal Schedule. Idempotent; retried as {@link EngineActivities}. */
export interface RetentionActivities {
  /**
   * Deletes a few of the activities past the retention time, whole groups only, in one transaction.
   * @param input.after - where the previous step stopped; null starts with the oldest
   * @returns the number of deleted rows, the first deleted groups, and where to continue
   */
  purgeExpiredActivities(input: { after: RetentionCursor | null }): Promise<PurgedActivities>;
}
