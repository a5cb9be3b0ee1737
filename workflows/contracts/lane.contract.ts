export interface LaneInput {
  /** Id of the batch row. */
  lane: number;
  /** True when the batch holds one computer's operations: it then fails and cancels as its row does. */
  single: boolean;
  /** Continue as new after this many history events; when absent, whenever the server suggests it. */
  continueAfterEvents?: number;
  /** State of an overdue moment that the previous run could not process. */
  overdue?: Overdue;
}

/** A moment that has passed by the workflow's clock but not by the database's. */
export interface Overdue {
  /** In ms since the epoch. */
  dueAt: number;
  /** Time until the next check, in ms. */
  waitMs: number;
}

/** How the operations of a closed batch ended. */
export interface LaneResult {
  succeeded: number;
  failed: number;
  canceled: number;
}

/** Signal without payload: the inbox has events for this batch. May be lost, repeated or late without harm. */
export const NUDGE_SIGNAL = 'nudge';
