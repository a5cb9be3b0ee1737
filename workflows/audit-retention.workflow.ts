import { continueAsNew } from '@temporalio/workflow';
import { AUDIT_RETENTION_STEPS, type AuditRetentionInput } from './contracts/housekeeping.contract.ts';
import { scheduledActivities } from './support/scheduled-activities.ts';

/** One run of the audit retention schedule: deletes in small steps until nothing is due. */
export async function auditRetention(input: AuditRetentionInput): Promise<{ deletedCount: number }> {
  let deletedCount = 'gone' in input ? input.gone : input.deletedCount;
  for (let step = 0; step < AUDIT_RETENTION_STEPS; step += 1) {
    const purged = await scheduledActivities.purgeExpiredAudits({});
    deletedCount += purged.deletedCount;
    if (!purged.more) return { deletedCount };
  }
  return continueAsNew<typeof auditRetention>({ deletedCount });
}
