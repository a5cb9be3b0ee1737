export interface LaneInput {
  /** Id of the lane row. */
  lane: number;
  /** True when the lane holds one computer's operations: it then fails and cancels as its row does. */
  single: boolean;
  /** Continue as new once the history has this many events; without it when the server suggests so. */
  continueAfterEvents?: number;
  /** Where the run before stood with a moment that it could not settle. */
  overdue?: Overdue;
}

/** A moment that has come by the clock of the workflow and not by that of the rows. */
export interface Overdue {
  /** The moment, in ms since the epoch. */
  dueAt: number;
  /** How long to wait before the next look, in ms. */
  waitMs: number;
}

/** How the operations of a closed lane ended. */
export interface LaneResult {
  succeeded: number;
  failed: number;
  canceled: number;
}

/** Signal without payload: news of this lane waits in the inbox. Lost, doubled and late ones are harmless. */
export const NUDGE_SIGNAL = 'nudge';
