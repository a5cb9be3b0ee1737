import {
  type ActivityRetention,
  purgeExpiredActivities,
} from '../../src/services/activities/purge-expired-activities.ts';
import type { ReleasedActivities, RetentionActivities } from '../../workflows/contracts/activities.ts';

/** The Temporal activity of `activityRetention`, also under its 0.1.0 name; safe to repeat. */
export function createRetentionActivities(
  deps: ActivityRetention,
): RetentionActivities & Pick<ReleasedActivities, 'forgetActivities'> {
  return {
    purgeExpiredActivities: ({ after }) => purgeExpiredActivities(deps, after),
    async forgetActivities(after) {
      const { deletedCount, next } = await purgeExpiredActivities(deps, after);
      return { gone: deletedCount, next };
    },
  };
}
