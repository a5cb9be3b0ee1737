import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReportInput } from './contracts/activity.contract.ts';
import { FAILURE_TYPES } from './contracts/failures.ts';
import { closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { activities } from './support/named-activities.ts';

// A report takes minutes, so it ends on the build that started it. Servers reject this for unversioned workers.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
  runReport,
);

/** Creates one report and closes with the status of its activity. @see docs/architecture.md#retries */
export async function runReport({ id }: ReportInput): Promise<void> {
  const cancellation = watchCancellation();
  const status = await activities.writeReport({ activity: id }).catch((error: unknown) =>
    activities.closeReport({
      activity: id,
      status: isCancellation(error) || cancellation.requested ? 'canceled' : 'failed',
    }),
  );
  if (status === 'canceled') await CancellationScope.nonCancellable(() => closeAsCanceled(cancellation));
  if (status === 'failed') {
    throw ApplicationFailure.nonRetryable('the report could not be made', FAILURE_TYPES.report);
  }
}
