import { continueAsNew } from '@temporalio/workflow';
import type { AuditRetentionActivities } from './contracts/activities.ts';
import { AUDIT_RETENTION_STEPS, type AuditRetentionInput } from './contracts/audit-retention.contract.ts';
import { proxyDatabaseActivities } from './support/database-activities.ts';

const { forgetAudits } = proxyDatabaseActivities<AuditRetentionActivities>();

/** One run of the audit retention schedule: deletes in small steps until nothing is due. */
export async function auditRetention({ gone: before }: AuditRetentionInput): Promise<{ gone: number }> {
  let gone = before;
  for (let step = 0; step < AUDIT_RETENTION_STEPS; step += 1) {
    const done = await forgetAudits();
    gone += done.gone;
    if (!done.more) return { gone };
  }
  return continueAsNew<typeof auditRetention>({ gone });
}
