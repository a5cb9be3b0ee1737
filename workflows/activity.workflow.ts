import { ApplicationFailure, CancellationScope, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { GroupProgress } from './contracts/activities.ts';
import type { ActivityInput, ActivityResult } from './contracts/activity.contract.ts';
import { FAILURE_TYPES } from './contracts/failures.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { steps } from './support/database-steps.ts';
import { runLanes } from './support/lanes.ts';

const FIRST_LOOK_MS = 60_000;
const LAST_LOOK_MS = 10 * 60_000;

/**
 * Carries out one group: its lanes, each a child workflow, and then closes with the status of the group's row.
 *
 * @see temporal-design 4
 */
export async function activity(input: ActivityInput): Promise<ActivityResult> {
  const cancellation = watchCancellation();
  const plans = await steps.begin(input.id);
  await runLanes(input, plans);
  const end = await settled(input, cancellation);
  const { succeeded, failed, canceled } = end;
  if (end.status === 'failed') {
    throw ApplicationFailure.nonRetryable('the operation failed on some computers', FAILURE_TYPES.agent);
  }
  if (end.status === 'canceled') await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

/** Rows outlive their lane only after a repair; another workflow or the reconciler then closes them, so this looks again. */
async function settled(input: ActivityInput, cancellation: CancelWatch): Promise<GroupProgress> {
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LAST_LOOK_MS)) {
    const cancelAll = cancellation.requested;
    const progress = await steps.settle(input.id, cancelAll);
    if (progress.open === 0) return progress;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof activity>(input);
    await CancellationScope.nonCancellable(() => condition(() => cancellation.requested && !cancelAll, waitMs));
  }
}
