/** Workflow type of the minutely repair run. */
export const RECONCILE_WORKFLOW = 'reconcile';

/** Schedule that starts it. */
export const RECONCILE_SCHEDULE_ID = 'system/reconcile';
export const RECONCILE_WORKFLOW_ID = 'system-reconcile';

/** Where the next run continues; passed from run to run as the last completion result. */
export interface ReconcileCursor {
  /** Workflows closed before this instant, in ms since the epoch, were checked. */
  closedSince: number;
  /** Open batches up to this id were checked in the current pass; 0 starts a new pass. */
  batchAfter: number;
  /** Time of the last run, in ms since the epoch, also stored in the database: an older value there means a restore. */
  mark?: number;
  /** Idle batches up to this id were checked; 0 starts a new pass. */
  idleAfter?: number;
  /** Batch workflows started from this instant on, in ms since the epoch, were checked; absent starts a new pass. */
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
