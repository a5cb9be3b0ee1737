import { workflowInfo } from '@temporalio/workflow';
import type { ReconcileResult } from './contracts/housekeeping.contract.ts';
import { scheduledActivities } from './support/scheduled-activities.ts';

/** One run of the repair schedule; continues where the last completed run stopped. */
export function reconcile(): Promise<ReconcileResult> {
  const last = workflowInfo().lastResult as ReconcileResult | undefined;
  return scheduledActivities.reconcileWorkflows({ cursor: last?.cursor ?? null });
}
