import { defineQuery, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { OpenOperation } from '../contracts/activities.ts';
import { OPERATIONS_LIMIT, OPERATIONS_QUERY, PROGRESS_QUERY, type ProgressResult } from '../contracts/queries.ts';
import { progressLine } from './details.ts';

const progressQuery = defineQuery<ProgressResult | null>(PROGRESS_QUERY);
const operationsQuery = defineQuery<OpenOperation[]>(OPERATIONS_QUERY);

export interface ProgressBoard {
  show(progress: ProgressResult, operations: readonly OpenOperation[]): void;
}

/** Answers queries from now on; call it before the first await. */
export function createProgressBoard(): ProgressBoard {
  let shown: ProgressResult | null = null;
  let open: readonly OpenOperation[] = [];
  setHandler(progressQuery, () => shown);
  setHandler(operationsQuery, () => open.slice(0, OPERATIONS_LIMIT));
  return {
    show(progress, operations) {
      shown = progress;
      open = operations;
      setCurrentDetails(progressLine(progress));
    },
  };
}
