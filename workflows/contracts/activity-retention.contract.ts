/** Workflow type of the hourly run that removes old activities. */
export const ACTIVITY_RETENTION_WORKFLOW = 'activityRetention';

/** Schedule that starts it. */
export const ACTIVITY_RETENTION_SCHEDULE_ID = 'system/activity-retention';
export const ACTIVITY_RETENTION_WORKFLOW_ID = 'system-activity-retention';

/** Steps of one run, each a transaction of its own; the next run goes on. */
export const RETENTION_STEPS = 200;

/** A place among the activities without a parent, by age. */
export interface RetentionCursor {
  createdAt: string;
  id: number;
}

/** What a step, or a run of many, removed; `next` is null once all were looked at. */
export interface RetentionResult {
  gone: number;
  next: RetentionCursor | null;
}
