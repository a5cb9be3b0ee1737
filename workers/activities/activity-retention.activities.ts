import {
  type ActivityRetention,
  purgeExpiredActivities,
} from '../../src/services/activities/purge-expired-activities.ts';
import type { RetentionActivities } from '../../workflows/contracts/activities.ts';

/** The Temporal activity of `activityRetention`; safe to repeat. */
export function createRetentionActivities(deps: ActivityRetention): RetentionActivities {
  return {
    async forgetActivities(after) {
      const { deletedCount, next } = await purgeExpiredActivities(deps, after);
      return { gone: deletedCount, next };
    },
  };
}
