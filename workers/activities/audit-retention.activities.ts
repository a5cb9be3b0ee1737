import { type AuditRetention, purgeExpiredAudits } from '../../src/services/compliance/audits/purge-expired-audits.ts';
import type { AuditRetentionActivities } from '../../workflows/contracts/activities.ts';

/** The Temporal activity of `auditRetention`; safe to repeat. */
export function createAuditRetentionActivities(deps: AuditRetention): AuditRetentionActivities {
  return {
    async forgetAudits() {
      const { deletedCount, more } = await purgeExpiredAudits(deps);
      return { gone: deletedCount, more };
    },
  };
}
