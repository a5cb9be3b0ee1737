import { workflowInfo } from '@temporalio/workflow';
import { RETENTION_STEPS, type RetentionResult } from './contracts/housekeeping.contract.ts';
import { scheduledActivities } from './support/scheduled-activities.ts';

/** One run of the retention schedule: deletes old activities in small steps from where the last run stopped. */
export async function activityRetention(): Promise<RetentionResult> {
  let next = (workflowInfo().lastResult as RetentionResult | undefined)?.next ?? null;
  let deletedCount = 0;
  for (let step = 0; step < RETENTION_STEPS; step += 1) {
    const purged = await scheduledActivities.purgeExpiredActivities({ after: next });
    deletedCount += purged.deletedCount;
    next = purged.next;
    if (next === null) break;
  }
  return { deletedCount, next };
}
