import type { OpenOperation } from '../../src/domain/engine/progress.ts';

/** How far a group or a batch is: {@link ProgressAnswer}, or null before its first activity. */
export const PROGRESS_QUERY = 'progress';
/** What is open, at most a hundred: operations and what they wait for of a batch, batches of a group. */
export const OPERATIONS_QUERY = 'operations';
export const OPERATIONS_LIMIT = 100;

export interface ProgressAnswer {
  done: number;
  total: number;
  /** What is counted: a computer may have several operations. */
  unit: 'computer' | 'operation';
  /** The first computers that are waited for. */
  waitingFor: string[];
  /** Computers waited for beside those. */
  more: number;
}

/** A batch of a group that has not ended; its own workflow says what its operations wait for. */
export interface OpenBatch {
  computers: string;
  workflowId: string;
}

export type OperationsAnswer = OpenOperation[] | OpenBatch[];
