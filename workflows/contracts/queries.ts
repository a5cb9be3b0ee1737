/** Progress of a group or a batch: {@link ProgressResult}, or null before its first activity. */
export const PROGRESS_QUERY = 'progress';
/** The first hundred open operations of a group or a batch, and what each waits for: `OpenOperation[]`. */
export const OPERATIONS_QUERY = 'operations';
export const OPERATIONS_LIMIT = 100;

export interface ProgressResult {
  done: number;
  total: number;
  unit: 'computer' | 'operation';
  waitingFor: string[];
  more: number;
}
