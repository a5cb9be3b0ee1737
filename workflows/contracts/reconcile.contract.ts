/** Workflow type of the minutely repair run. */
export const RECONCILE_WORKFLOW = 'reconcile';

/** Schedule that starts it. */
export const RECONCILE_SCHEDULE_ID = 'system/reconcile';
export const RECONCILE_WORKFLOW_ID = 'system-reconcile';

/** Where the next run goes on; handed from run to run as the last completion result. */
export interface ReconcileCursor {
  /** Workflows closed before this instant, in ms since the epoch, were looked at. */
  closedSince: number;
  /** Open lanes up to this id were compared in the current round; 0 starts a new round. */
  laneAfter: number;
  /** When the last run was, in ms since the epoch, as the database was told too: one that knows less was restored. */
  mark?: number;
  /** Lanes that stand still were looked at up to this id; 0 starts a new round. */
  stillAfter?: number;
  /** Lane workflows that began from this instant on, in ms since the epoch, were looked at; absent starts a new round. */
  runningBefore?: number | undefined;
}

export interface ReconcileResult {
  cursor: ReconcileCursor;
  restarted: number;
  closed: number;
}
