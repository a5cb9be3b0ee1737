import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReportActivities } from './contracts/activities.ts';
import { FAILURE_TYPES } from './contracts/failures.ts';
import type { ReportInput } from './contracts/report.contract.ts';
import { closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { proxyDatabaseActivities } from './support/database-activities.ts';

/** A worker that dies is noticed by its missing heartbeats, and the report begun anew by another one. */
const { generateReport } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '6h',
  heartbeatTimeout: '10s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1s', maximumInterval: '1m', maximumAttempts: 30 },
});
const { endReport } = proxyDatabaseActivities<ReportActivities>();

// A report takes minutes: it ends on the build that began it. Servers refuse this of workers without a version.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
  reportActivity,
);

/**
 * Makes one report and closes with the status of its activity.
 *
 * @see docs/architecture.md#retries
 */
export async function reportActivity({ id }: ReportInput): Promise<void> {
  const cancellation = watchCancellation();
  const status = await generateReport(id).catch((error: unknown) =>
    endReport(id, isCancellation(error) || cancellation.requested ? 'canceled' : 'failed'),
  );
  if (status === 'canceled') await CancellationScope.nonCancellable(() => closeAsCanceled(cancellation));
  if (status === 'failed') {
    throw ApplicationFailure.nonRetryable('the report could not be made', FAILURE_TYPES.report);
  }
}
