import type { GroupProgress, LanePlan, LaneProgress } from '../../src/domain/activity/progress.ts';
import type { RetentionCursor, RetentionResult } from './activity-retention.contract.ts';
import type { ProfileKindName } from './profile-trigger.contract.ts';
import type { ReconcileCursor, ReconcileResult } from './reconcile.contract.ts';

export type { GroupProgress, LanePlan, LaneProgress };

/**
 * Steps of `activity` and `lane`. The database steps are transactions that can run twice: they start from the rows
 * as they are, guard every change by the old status, and answer from the rows.
 *
 * @see temporal-design 4
 */
export interface LaneActivities {
  /**
   * Settles all news of a lane: opens it on the first call (queues its messages), applies inbox rows, releases or
   * cancels dependents, expires what is overdue, and moves counters of lane and parent.
   *
   * @param cancelAll - also cancel every open row of the lane (an operator cancelled the workflow)
   */
  advance(lane: number, cancelAll: boolean): Promise<LaneProgress>;
  /** Names the lanes of a group that still have open rows. */
  begin(activity: number): Promise<LanePlan[]>;
  /**
   * Reads how a group stands; with `cancelAll` first cancels the rows of lanes that were never opened, and tells the
   * others to cancel theirs.
   */
  settle(activity: number, cancelAll: boolean): Promise<GroupProgress>;
  /**
   * Asks the server to cancel the run that calls. A workflow can close as Canceled only when a cancel was requested,
   * and rows can be cancelled one by one without any.
   *
   * @remarks Asking twice, or for a closed run, changes nothing.
   */
  requestCancel(workflowId: string, runId: string): Promise<void>;
}

/** Steps of `profileTrigger`. Both can run again at any time. @see temporal-design 6 */
export interface ProfileActivities {
  /**
   * Makes the run of one date, unless it has been made.
   *
   * @param nominalTime - ISO 8601 in UTC
   * @returns what became of the date
   */
  startDueRun(kind: ProfileKindName, profileId: number, nominalTime: string): Promise<string>;
  /** Plans further dates when few are left. */
  refillSchedule(kind: ProfileKindName, profileId: number): Promise<void>;
}

/** Steps of `reportActivity`. All can run again at any time. @see temporal-design 2 */
export interface ReportActivities {
  /**
   * Makes the report of an activity, with heartbeats.
   *
   * @returns the status of the activity's row by then: it may have been cancelled meanwhile
   */
  generateReport(id: number): Promise<string>;
  /** Ends the activity without a report, unless it has ended. @returns the status of its row */
  endReport(id: number, status: 'failed' | 'canceled'): Promise<string>;
  /** @see LaneActivities.requestCancel */
  requestCancel(workflowId: string, runId: string): Promise<void>;
}

/** Housekeeping of audits, run daily by a Temporal Schedule. */
export interface AuditRetentionActivities {
  /**
   * Removes some of the runs, results and reports that are older than their account keeps them.
   *
   * @returns how many rows went, and whether there may be more
   * @remarks Safe to repeat and to run twice at once.
   */
  forgetAudits(): Promise<{ gone: number; more: boolean }>;
}

/** Housekeeping, run by a Temporal Schedule. */
export interface ReconcileActivities {
  /**
   * Compares open rows with open workflows in bounded pages and repairs: starts what has no workflow, closes rows of
   * workflows that an operator terminated.
   *
   * @param cursor - where the last run stopped; null starts from the beginning
   * @returns how many workflows of each kind were repaired, and where to go on
   * @remarks Safe to repeat and to run twice at once.
   */
  reconcile(cursor: ReconcileCursor | null): Promise<ReconcileResult>;
}

/** Removal of old activities, run by a Temporal Schedule. */
export interface RetentionActivities {
  /**
   * One small step: removes some of the activities that ended before the retention time, whole groups only, in one
   * transaction.
   *
   * @param after - where the step before stopped; null begins with the oldest
   * @remarks Safe to repeat and to run twice at once. Without a retention time nothing goes.
   */
  forgetActivities(after: RetentionCursor | null): Promise<RetentionResult>;
}
