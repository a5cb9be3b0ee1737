/** Workflow types of housekeeping, with the schedules that start them. */
export const RECONCILE_WORKFLOW = 'reconcile';
export const RECONCILE_SCHEDULE_ID = 'system/reconcile';
export const RECONCILE_WORKFLOW_ID = 'system-reconcile';

export const ACTIVITY_RETENTION_WORKFLOW = 'activityRetention';
export const ACTIVITY_RETENTION_SCHEDULE_ID = 'system/activity-retention';
export const ACTIVITY_RETENTION_WORKFLOW_ID = 'system-activity-retention';
/** Steps of one run, each its own transaction; the next run continues. */
export const RETENTION_STEPS = 200;

export const AUDIT_RETENTION_WORKFLOW = 'auditRetention';
export const AUDIT_RETENTION_SCHEDULE_ID = 'system/audit-retention';
export const AUDIT_RETENTION_WORKFLOW_ID = 'system-audit-retention';
/** Steps of one run, each its own transaction; then it continues as new. */
export const AUDIT_RETENTION_STEPS = 200;

export const HASH_ID_DATABASES_WORKFLOW = 'hashIdDatabases';
export const HASH_ID_DATABASES_SCHEDULE_ID = 'system/hash-id-databases';
export const HASH_ID_DATABASES_WORKFLOW_ID = 'system-hash-id-databases';

/** Where the next run of the reconciler continues: the last completion result. Times are in ms since the epoch. */
export interface ReconcileCursor {
  /** Workflows closed before this were checked. */
  closedSince: number;
  /** Open batches up to this id were checked in the current pass; 0 starts a new pass. */
  batchAfter: number;
  /** Time of the last run, also stored in the database: an older value there means a restore. */
  mark?: number;
  /** Idle batches up to this id were checked; 0 starts a new pass. */
  idleAfter?: number;
  /** Batch workflows started from this on were checked; absent starts a new pass. */
  runningBefore?: number | undefined;
}

export interface ReconcileResult {
  cursor: ReconcileCursor;
  restarted: number;
  closed: number;
  /** The first of both; absent in older histories. */
  repaired?: RepairedWorkflow[];
}

export interface RepairedWorkflow {
  workflowId: string;
  outcome: 'restarted' | 'closed';
}

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

/** The number of rows that previous runs deleted; in 0.1.0 it was called `gone`. */
export type AuditRetentionInput = { deletedCount: number } | { gone: number };

/** The number of packages in the file of each release. */
export type HashIdDatabasesResult = Record<string, number>;
