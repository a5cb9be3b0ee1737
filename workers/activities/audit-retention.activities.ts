import { type AuditRetention, purgeExpiredAudits } from '../../src/services/compliance/audits/purge-expired-audits.ts';
import type { AuditRetentionActivities, ReleasedActivities } from '../../workflows/contracts/activities.ts';

/** The Temporal activity of `auditRetention`, also under its 0.1.0 name; safe to repeat. */
export function createAuditRetentionActivities(
  deps: AuditRetention,
): AuditRetentionActivities & Pick<ReleasedActivities, 'forgetAudits'> {
  return {
    purgeExpiredAudits: () => purgeExpiredAudits(deps),
    async forgetAudits() {
      const { deletedCount, more } = await purgeExpiredAudits(deps);
      return { gone: deletedCount, more };
    },
  };
}
