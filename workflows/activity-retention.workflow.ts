import { workflowInfo } from '@temporalio/workflow';
import type { RetentionActivities } from './contracts/activities.ts';
import { RETENTION_STEPS, type RetentionResult } from './contracts/activity-retention.contract.ts';
import { proxyDatabaseActivities } from './support/database-activities.ts';

const { forgetActivities } = proxyDatabaseActivities<RetentionActivities>();

/** One run of the retention schedule: deletes old activities in small steps from where the last run stopped. */
export async function activityRetention(): Promise<RetentionResult> {
  let next = (workflowInfo().lastResult as RetentionResult | undefined)?.next ?? null;
  let gone = 0;
  for (let step = 0; step < RETENTION_STEPS; step += 1) {
    const done = await forgetActivities(next);
    gone += done.gone;
    next = done.next;
    if (next === null) break;
  }
  return { gone, next };
}
