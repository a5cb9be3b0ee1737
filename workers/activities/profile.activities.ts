import { ApplicationFailure } from '@temporalio/activity';
import type { ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import type { ProfileActivities, ReleasedActivities } from '../../workflows/contracts/activities.ts';
import { FAILURE_TYPES } from '../../workflows/contracts/failures.ts';
import type { ProfileKindName } from '../../workflows/contracts/profile-trigger.contract.ts';

const PLANNED_LIMIT = 25;

/** The activities of `profileTrigger` over all kinds of profiles, also under their 0.1.0 names. */
export function createProfileActivities(deps: {
  kinds: ProfileKinds;
  clock: { now(): Date };
}): ProfileActivities & Pick<ReleasedActivities, 'startDueRun' | 'refillSchedule'> {
  const kindOf = (name: ProfileKindName): ProfileKind => {
    const kind = deps.kinds.get(name);
    if (!kind) {
      throw ApplicationFailure.nonRetryable(
        `this build knows no profiles of the kind ${name}`,
        FAILURE_TYPES.unknownKind,
      );
    }
    return kind;
  };
  const activities: ProfileActivities = {
    startRun: async ({ kind, profileId, scheduledTime }) =>
      kindOf(kind).startRun(profileId, new Date(scheduledTime), deps.clock.now()),
    async extendSchedule({ kind, profileId }) {
      const dates = await kindOf(kind).extendSchedule(profileId, deps.clock.now());
      return { planned: dates.slice(0, PLANNED_LIMIT).map((date) => date.toISOString()) };
    },
  };
  return {
    ...activities,
    startDueRun: async (kind, profileId, scheduledTime) =>
      (await activities.startRun({ kind, profileId, scheduledTime })).outcome,
    async refillSchedule(kind, profileId) {
      await activities.extendSchedule({ kind, profileId });
    },
  };
}
