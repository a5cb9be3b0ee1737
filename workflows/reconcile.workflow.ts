import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ReconcileActivities } from './contracts/activities.ts';
import type { ReconcileResult } from './contracts/reconcile.contract.ts';

/** One attempt: the next run comes within a minute and repeats what this one did not finish. */
const { reconcile: repair } = proxyLocalActivities<ReconcileActivities>({
  startToCloseTimeout: '50s',
  retry: { maximumAttempts: 1 },
});

/** One run of the repair schedule; continues where the last completed run stopped. */
export async function reconcile(): Promise<ReconcileResult> {
  const last = workflowInfo().lastResult as ReconcileResult | undefined;
  return await repair(last?.cursor ?? null);
}
