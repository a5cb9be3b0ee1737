import type { OpenOperation } from '../../src/domain/engine/progress.ts';

/** Progress of a group or a batch: {@link ProgressAnswer}, or null before its first activity. */
export const PROGRESS_QUERY = 'progress';
/** The first hundred open items: of a batch, operations and what they wait for; of a group, batches. */
export const OPERATIONS_QUERY = 'operations';
export const OPERATIONS_LIMIT = 100;

export interface ProgressAnswer {
  done: number;
  total: number;
  /** What is counted; a computer may have several operations. */
  unit: 'computer' | 'operation';
  /** The first computers that have not finished. */
  waitingFor: string[];
  /** Number of further computers. */
  more: number;
}

/** An open batch of a group; its own workflow shows what its operations wait for. */
export interface OpenBatch {
  computers: string;
  /** Of a batch of one computer: its first operation that was open when the group started. */
  operation?: number;
  workflowId: string;
}

export type OperationsAnswer = OpenOperation[] | OpenBatch[];
