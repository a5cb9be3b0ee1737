/** Progress of a group or a batch: {@link ProgressAnswer}, or null before its first activity. */
export const PROGRESS_QUERY = 'progress';
/** The first hundred open operations of a group or a batch, and what each waits for: `OpenOperation[]`. */
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
