export interface GroupInput {
  id: number;
}

/** The operations of one computer; with `id`, those of a group of one computer, which has no other workflow. */
export interface ComputerOperationInput extends Partial<GroupInput> {
  batch: number;
  /** State of an overdue moment that the previous run could not process. */
  overdue?: Overdue;
}

export interface ReportInput {
  id: number;
}

export interface BatchInput {
  batch: number;
  /** True in older histories of batches of one computer, which fail and cancel as their row does. */
  single: boolean;
  /** State of an overdue moment that the previous run could not process. */
  overdue?: Overdue;
}

/** Input of older histories, which tests made shorter by `continueAfterEvents`. */
export interface ReleasedBatchInput extends Omit<BatchInput, 'batch'> {
  lane: number;
  continueAfterEvents?: number;
}

/** A moment that has passed by the workflow's clock but not by the database's; times in ms. */
export interface Overdue {
  dueAt: number;
  waitMs: number;
}

/** How the operations of a closed group or batch ended. */
export interface OperationCounts {
  succeeded: number;
  failed: number;
  canceled: number;
}

/** Signal without payload: a batch has pending events. May be lost, repeated or late without harm. */
export const WAKE_UP_SIGNAL = 'wakeUp';
/** Its name in 0.1.0, whose dispatchers can run beside newer ones and whose histories have it. */
export const RELEASED_WAKE_UP_SIGNAL = 'nudge';
