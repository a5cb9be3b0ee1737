/** Workflow type of the hourly run that deletes old activities. */
export const ACTIVITY_RETENTION_WORKFLOW = 'activityRetention';

/** Schedule that starts it. */
export const ACTIVITY_RETENTION_SCHEDULE_ID = 'system/activity-retention';
export const ACTIVITY_RETENTION_WORKFLOW_ID = 'system-activity-retention';

/** Steps of one run, each its own transaction; the next run continues. */
export const RETENTION_STEPS = 200;

/** A position in the activities without a parent, by age. */
export interface RetentionCursor {
  createdAt: string;
  id: number;
}

/** Result of a run of many steps; `next` is null at the end. */
export interface RetentionResult {
  deletedCount: number;
  next: RetentionCursor | null;
}

/** Result of one step. */
export interface PurgedActivities extends RetentionResult {
  /** The first deleted groups and single operations. */
  deleted: number[];
}

/** Results of 0.1.0. */
export interface ReleasedRetentionResult {
  gone: number;
  next: RetentionCursor | null;
}
