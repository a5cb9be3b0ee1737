import type { ActivityStatus } from '../../src/domain/activities/status.ts';
import type { BatchPlan, BatchProgress, GroupProgress, OpenOperation } from '../../src/domain/engine/progress.ts';
import type { DueOutcome } from '../../src/domain/schedules/profile-schedule.ts';
import type { RetentionCursor, RetentionResult } from './activity-retention.contract.ts';
import type { ProfileKindName } from './profile-trigger.contract.ts';
import type { ReconcileCursor, ReconcileResult } from './reconcile.contract.ts';

export type { BatchPlan, BatchProgress, GroupProgress, OpenOperation };

/**
 * What groups and batches ask of the engine. Each is a transaction that can run twice: it starts from the rows as they
 * are, guards every change by the old status, and answers from the rows.
 * @throws {ApplicationFailure} of a type of FAILURE_TYPES, not to be retried; anything else while the database is away
 * @remarks Tried three times as local ones, each for 20 s and all within 25 s, then for 60 s each, a second to a minute
 * apart, until they succeed.
 * @see docs/architecture.md#processing-pending-events
 */
export interface EngineActivities {
  /**
   * Moves a batch on: opens it on the first call (queues its messages), applies its pending events, releases or cancels
   * dependents, expires what is overdue, and moves the counters of batch and group.
   * @returns how the batch stands, and what moved; a batch without a row has nothing open
   * @throws when it waited too long for its turn in this worker: nothing was begun
   * @remarks An event is taken once, in the transaction that applies it. A repeated call answers from the rows.
   */
  processPendingEvents(input: ProcessPendingEvents): Promise<BatchProgress>;
  /** Names the batches of a group that still have open operations. Changes nothing; no group has no batches. */
  listOpenBatches(input: { group: number }): Promise<BatchPlan[]>;
  /**
   * Reads how a group stands; with `cancelAll` first cancels batches that were never opened, and has the others cancel
   * what they hold.
   * @throws {ApplicationFailure} of type `MissingRow` when there is no such group: retention keeps groups that have not
   * ended, so that somebody deleted it
   * @remarks Batches that were canceled, or have a cancel waiting, are left alone by a repeated call.
   */
  getGroupProgress(input: { group: number; cancelAll: boolean }): Promise<GroupProgress>;
}

export interface ProcessPendingEvents {
  batch: number;
  /** Also cancel every open operation: an operator canceled the workflow. */
  cancelAll: boolean;
}

/** The activity by which a workflow closes as Canceled; every queue whose workflows do so serves it. */
export interface CancelActivities {
  /**
   * Asks the server to cancel the run that calls. A workflow can close as Canceled only when a cancel was requested,
   * and rows can be canceled one by one without any.
   * @throws while the server is away
   * @remarks Tried as {@link EngineActivities}. Asking twice, or for a closed run, changes nothing.
   */
  cancelRun(input: { workflowId: string; runId: string }): Promise<void>;
}

/** Names and arguments of 0.1.0. Histories that began with one of its workflow types go on with them. */
export interface ReleasedActivities {
  advance(lane: number, cancelAll: boolean): Promise<BatchProgress>;
  begin(activity: number): Promise<BatchPlan[]>;
  settle(activity: number, cancelAll: boolean): Promise<GroupProgress>;
  requestCancel(workflowId: string, runId: string): Promise<void>;
  generateReport(id: number): Promise<ActivityStatus>;
  endReport(id: number, status: 'failed' | 'canceled'): Promise<ActivityStatus>;
}

/**
 * Steps of `profileTrigger`. Both can run again at any time.
 * @throws both, while the database is away, and when this worker knows no profiles of the kind: a newer build does, and
 * one of its workers takes a further try
 * @remarks Tried as {@link EngineActivities}.
 * @see docs/architecture.md#schedules-of-profiles
 */
export interface ProfileActivities {
  /**
   * Makes the run of one date, unless it has been made.
   * @param nominalTime - ISO 8601 in UTC
   * @returns what became of the date
   * @remarks One transaction, and at most one run per profile and date: a second call answers `known`, or why the date
   * makes no run.
   */
  startDueRun(kind: ProfileKindName, profileId: number, nominalTime: string): Promise<DueOutcome>;
  /**
   * Plans further dates when few are left.
   * @throws also when the dates of the stored rule were not found in time, which were when it was checked
   * @remarks Once they are planned a repeated call changes nothing.
   */
  refillSchedule(kind: ProfileKindName, profileId: number): Promise<void>;
}

/** What reports ask for. All can run again at any time. @see docs/architecture.md#task-queues */
export interface ReportActivities {
  /**
   * Makes the report of an activity, with heartbeats.
   * @returns the status of the activity's row by then: it may have been cancelled meanwhile
   * @throws {CancelledFailure} when the workflow was cancelled, and other errors while the database is away
   * @remarks Tried thirty times, for 6 h each; a try without a heartbeat for 10 s is over. Then the activity is ended as
   * failed. Every try begins the file anew. Of two tries at once one ends the activity, with its file.
   */
  writeReport(input: { activity: number }): Promise<ActivityStatus>;
  /**
   * Ends the activity without a report, unless it has ended, and removes what was written of it.
   * @returns the status of its row
   * @throws while the database is away
   * @remarks Tried as {@link EngineActivities}. A repeated call changes nothing.
   */
  closeReport(input: { activity: number; status: 'failed' | 'canceled' }): Promise<ActivityStatus>;
}

/** Housekeeping of audits, run daily by a Temporal Schedule. */
export interface AuditRetentionActivities {
  /**
   * Removes some of the runs, results and reports that are older than their account keeps them, in one transaction.
   * @returns how many rows went, and whether there may be more
   * @throws while the database is away
   * @remarks Tried as {@link EngineActivities}. Safe to repeat and to run twice at once.
   */
  forgetAudits(): Promise<{ gone: number; more: boolean }>;
}

/** Housekeeping, run every minute by a Temporal Schedule. */
export interface ReconcileActivities {
  /**
   * Brings rows, workflows and schedules in line where one side lost or missed something.
   * @param cursor - where the last completed run stopped; null starts from the beginning
   * @returns how many workflows were started again, how many rows were closed whose workflow an operator terminated,
   * and where to go on
   * @throws when the database or the server is away, or a repair after a restore is under way already: what was done
   * until then stays
   * @remarks Tried once, for 50 s: the next run comes within a minute and repeats what this one did not finish. Safe to
   * repeat and to run twice at once. In this order:
   *
   * 1. A database that knows less than the cursor's mark was restored from a backup: moves ids ahead, passes over dates
   *    of profiles, ends operations of unknown outcome, revokes every token, orders every schedule and terminates
   *    workflows that drive nothing any more. Where the cursor is over five minutes behind the database, the server may
   *    be older: orders every schedule, once.
   * 2. Starts groups and lanes again that have open rows and whose workflow closed abnormally since the last run;
   *    cancels what is open where an operator terminated it.
   * 3. Does the same for open lanes, and their groups, that have no running workflow, as many as 25 s allow; the next
   *    run goes on behind them.
   * 4. Reports workflows that run and cannot move, nudges lanes that stand still, and wakes lane workflows that run
   *    although everything in their rows has ended.
   * 5. Starts workflows of reports again that have none; replaces those that run and told nothing new for 30 minutes;
   *    ends reports whose workflow an operator terminated.
   * 6. Makes the runs of dates that passed without their schedule; lets those pass, with an event, whose schedule an
   *    operator paused. What fails of one profile is logged.
   * 7. Every ten minutes, and after a gap in its own runs, orders the schedules that are missing on the server or older
   * than their profile, and the removal of those nobody wants.
   * 8. Deletes runs of its own that closed more than an hour ago.
   * 9. Removes lines of the event log that are older than they are kept. A failure is logged.
   */
  reconcile(cursor: ReconcileCursor | null): Promise<ReconcileResult>;
}

/** Removal of old activities, run hourly by a Temporal Schedule. */
export interface RetentionActivities {
  /**
   * One small step: removes some of the activities that ended before the retention time, whole groups only, in one
   * transaction.
   * @param after - where the step before stopped; null begins with the oldest
   * @throws while the database is away
   * @remarks Tried as {@link EngineActivities}. Safe to repeat and to run twice at once. Without a retention
   * time nothing goes.
   */
  forgetActivities(after: RetentionCursor | null): Promise<RetentionResult>;
}
