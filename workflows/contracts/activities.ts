/** What a lane's rows say after a call; read from the lane row, so that a repeated call gives the same answer. */
export interface LaneProgress {
  open: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** Instant in ms since the epoch when the lane must look again without news; null when nothing is due. */
  nextDueAt: number | null;
  /** Titles of up to three computers still open, for the operator's view. */
  waitingFor: string[];
}

export interface LanePlan {
  lane: number;
  workflowId: string;
  single: boolean;
  /** One line for operators, for example "computers 1-500 of 10,000". */
  summary: string;
}

export interface GroupProgress {
  open: number;
  status: 'open' | 'succeeded' | 'failed' | 'canceled';
  succeeded: number;
  failed: number;
  canceled: number;
}

/**
 * Database steps of `activity` and `lane`. All are transactions that can run twice: they start from the rows as
 * they are, guard every change by the old status, and answer from the rows.
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
  /** Reads how a group stands; with `cancelAll` first cancels the rows of lanes that were never opened. */
  settle(activity: number, cancelAll: boolean): Promise<GroupProgress>;
}

/** Housekeeping, run by a Temporal Schedule. */
export interface ReconcileActivities {
  /**
   * Compares open rows with open workflows in bounded pages and repairs: starts what has no workflow, closes rows of
   * workflows that an operator terminated.
   *
   * @returns how many rows of each kind were repaired
   */
  reconcile(): Promise<{ restarted: number; closed: number }>;
}
