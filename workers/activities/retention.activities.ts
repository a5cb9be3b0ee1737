import {
  type ActivityRetention,
  purgeExpiredActivities,
} from '../../src/services/activities/purge-expired-activities.ts';
import { purgeExpiredAudits } from '../../src/services/compliance/audits/purge-expired-audits.ts';
import type {
  AuditRetentionActivities,
  ReleasedActivities,
  RetentionActivities,
} from '../../workflows/contracts/activities.ts';

/** The Temporal activities of `activityRetention` and `auditRetention`, also under their 0.1.0 names. */
export function createRetentionActivities(
  deps: ActivityRetention,
): RetentionActivities & AuditRetentionActivities & Pick<ReleasedActivities, 'forgetActivities' | 'forgetAudits'> {
  const { db, clock, logger } = deps;
  const purgeAudits = () => purgeExpiredAudits({ db, clock, logger });
  return {
    purgeExpiredActivities: ({ after }) => purgeExpiredActivities(deps, after),
    purgeExpiredAudits: purgeAudits,
    async forgetActivities(after) {
      const { deletedCount, next } = await purgeExpiredActivities(deps, after);
      return { gone: deletedCount, next };
    },
    async forgetAudits() {
      const { deletedCount, more } = await purgeAudits();
      return { gone: deletedCount, more };
    },
  };
}
