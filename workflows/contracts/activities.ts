import type { ActivityStatus } from '../../src/domain/activities/status.ts';
import type { BatchPlan, BatchProgress, GroupProgress, OpenOperation } from '../../src/domain/engine/progress.ts';
import type { DueOutcome, RunStart } from '../../src/domain/schedules/profile-schedule.ts';
import type { PurgedActivities, ReleasedRetentionResult, RetentionCursor } from './activity-retention.contract.ts';
import type { ProfileKindName } from './profile-trigger.contract.ts';
import type { ReconcileCursor, ReconcileResult } from './reconcile.contract.ts';

export type { BatchPlan, BatchProgress, GroupProgress, OpenOperation };

/**
 * Activities of groups and batches. Each is an idempotent transaction: it reads the current rows, guards every change
 * by the old status, and returns what the rows say.
 * @throws {ApplicationFailure} of a type of FAILURE_TYPES, non-retryable; any other error while the database is down
 * @remarks Attempted three times locally (20 s each, 25 s in all), then as normal activities of 60 s with 1 s to 60 s
 * between attempts, until they succeed.
 * @see docs/architecture.md#processing-pending-events
 */
export interface EngineActivities {
  /**
   * Advances a batch: opens it on the first call (queues its messages), applies its pending events, releases or cancels
   * dependents, expires what is overdue, and updates the counters of batch and group.
   * @returns the state of the batch and the changes; a batch without a row has nothing open
   * @throws when it waited too long for a slot in this worker; nothing was started
   * @remarks An event is consumed by the transaction that applies it. A repeated call returns what the rows say.
   */
  processPendingEvents(input: ProcessPendingEvents): Promise<BatchProgress>;
  /** Lists the batches of a group that still have open operations. Read-only; empty for a missing group. */
  listOpenBatches(input: { group: number }): Promise<BatchPlan[]>;
  /**
   * Reads the state of a group; with `cancelAll` first cancels batches that were never opened, and requests that the
   * others cancel their operations.
   * @throws {ApplicationFailure} of type `MissingRow` when the group was deleted (retention keeps open groups)
   * @remarks Idempotent: batches that are canceled or have a pending cancel are skipped.
   */
  getGroupProgress(input: { group: number; cancelAll: boolean }): Promise<GroupProgress>;
}

export interface ProcessPendingEvents {
  batch: number;
  /** Also cancel every open operation, because an operator canceled the workflow. */
  cancelAll: boolean;
}

/** The activity by which a workflow closes as Canceled; served by every queue whose workflows use it. */
export interface CancelActivities {
  /**
   * Requests a cancel of the calling run. A workflow can close as Canceled only after such a request, and rows
   * can be canceled one by one without one.
   * @throws while the server is unavailable
   * @remarks Retried as {@link EngineActivities}. Idempotent; has no effect on a closed run.
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
  forgetActivities(after: RetentionCursor | null): Promise<ReleasedRetentionResult>;
  forgetAudits(): Promise<{ gone: number; more: boolean }>;
  reconcile(cursor: ReconcileCursor | null): Promise<ReconcileResult>;
}

/**
 * Activities of `profileTrigger`; each is idempotent.
 * @throws {ApplicationFailure} of type `UnknownKind`, non-retryable, for a kind that only a newer build knows; any other
 * error while the database is down
 * @remarks Retried as {@link EngineActivities}.
 * @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileActivities {
  /**
   * Creates the run of one date, unless it exists.
   * @param input.scheduledTime - ISO 8601 in UTC
   * @returns the outcome for the date, and the activity of a new run
   * @remarks One transaction, and at most one run per profile and date: a second call returns `known`, or why the date
   * has no run.
   */
  startRun(input: { kind: ProfileKindName; profileId: number; scheduledTime: string }): Promise<RunStart>;
  /**
   * Plans further dates when few are left.
   * @returns the first planned dates, ISO 8601 in UTC; none when enough were left
   * @throws also when the dates of the stored rule cannot be computed in time, although they could when it was
   * validated
   * @remarks Idempotent.
   */
  extendSchedule(input: { kind: ProfileKindName; profileId: number }): Promise<{ planned: string[] }>;
}

/** Activities of reports; each is idempotent. @see docs/architecture.md#task-queues */
export interface ReportActivities {
  /**
   * Creates the report of an activity, with heartbeats.
   * @returns the status of the activity's row afterwards; it may have been canceled meanwhile
   * @throws {CancelledFailure} when the workflow was canceled, and other errors while the database is down
   * @remarks Up to thirty attempts of 6 h each, with a heartbeat timeout of 10 s; then the activity is closed as
   * failed. Every attempt restarts the file. Of two concurrent attempts, one closes the activity with its file.
   */
  writeReport(input: { activity: number }): Promise<ActivityStatus>;
  /**
   * Closes an open activity without a report, and deletes what was written of it.
   * @returns the status of its row
   * @throws while the database is down
   * @remarks Retried as {@link EngineActivities}. Idempotent.
   */
  closeReport(input: { activity: number; status: 'failed' | 'canceled' }): Promise<ActivityStatus>;
}

/** Housekeeping of audits, run daily by a Temporal Schedule. */
export interface AuditRetentionActivities {
  /**
   * Deletes some of the runs, results and reports that are past their account's retention time, in one transaction.
   * @returns the number of deleted rows, the runs they belong to, and whether there may be more
   * @throws while the database is down
   * @remarks Retried as {@link EngineActivities}. Idempotent and safe to run concurrently.
   */
  purgeExpiredAudits(input: Record<never, never>): Promise<{ deletedCount: number; runs: number[]; more: boolean }>;
}

/** Housekeeping, run every minute by a Temporal Schedule. */
export interface ReconcileActivities {
  /**
   * Reconciles rows, workflows and schedules where one side lost or missed something.
   * @param input.cursor - where the last completed run stopped; null starts from the beginning
   * @returns the number of restarted workflows and of rows closed because an operator terminated their workflow, the
   * first of them by name, and where to continue
   * @throws when the database or the server is unavailable, or a repair after a restore is in progress; completed work
   * stays
   * @remarks One attempt of 50 s: the next run comes within a minute and repeats what this one did not finish.
   * Idempotent and safe to run concurrently. In this order:
   *
   * 1. A database older than the cursor's mark was restored from a backup: moves ids ahead, skips dates of profiles,
   *    ends operations of unknown outcome, revokes every token, requests an update of every schedule and terminates
   *    workflows without open rows. Where the cursor is over five minutes behind the database, the server may be older:
   *    requests an update of every schedule, once.
   * 2. Restarts groups and batches that have open rows and whose workflow closed abnormally since the last run; cancels
   *    open rows where an operator terminated it.
   * 3. Does the same for open batches, and their groups, without a running workflow, as many as fit into 25 s; the next
   *    run continues after them.
   * 4. Reports stuck workflows of every type, wakes idle batches, and wakes batch workflows that run although their rows
   *    have ended.
   * 5. Restarts report workflows that are missing; replaces those without progress for 30 minutes; ends reports whose
   *    workflow an operator terminated.
   * 6. Creates the runs of missed dates; skips those of schedules that an operator paused, with an event. Failures of a
   *    single profile are logged.
   * 7. Every ten minutes, and after a gap in its own runs, requests an update of schedules that are missing on the
   *    server, older than their profile or no longer needed.
   * 8. Deletes runs of its own that closed more than an hour ago.
   * 9. Deletes expired rows of the event log. A failure is logged.
   */
  reconcileWorkflows(input: { cursor: ReconcileCursor | null }): Promise<ReconcileResult>;
}

/** Deletion of old activities, run hourly by a Temporal Schedule. */
export interface RetentionActivities {
  /**
   * Deletes a few of the activities past the retention time, whole groups only, in one transaction.
   * @param input.after - where the previous step stopped; null starts with the oldest
   * @returns the number of deleted rows, the first deleted groups, and where to continue
   * @throws while the database is down
   * @remarks Retried as {@link EngineActivities}. Idempotent and safe to run concurrently. Without a retention time
   * nothing is deleted.
   */
  purgeExpiredActivities(input: { after: RetentionCursor | null }): Promise<PurgedActivities>;
}
