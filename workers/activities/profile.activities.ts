import { ApplicationFailure } from '@temporalio/activity';
import type { ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import type { ProfileActivities } from '../../workflows/contracts/activities.ts';
import { FAILURE_TYPES } from '../../workflows/contracts/failures.ts';
import type { ProfileKindName } from '../../workflows/contracts/profile-trigger.contract.ts';

/**
 * The activities of `profileTrigger` over all kinds of profiles; each is safe to repeat.
 * @throws {ApplicationFailure} of type `UnknownKind`, non-retryable, for a kind that only a newer build knows
 */
export function createProfileActivities(deps: { kinds: ProfileKinds; clock: { now(): Date } }): ProfileActivities {
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
  return {
    startDueRun: (kind, profileId, scheduledTime) =>
      kindOf(kind).startRun(profileId, new Date(scheduledTime), deps.clock.now()),
    refillSchedule: (kind, profileId) => kindOf(kind).extendSchedule(profileId, deps.clock.now()),
  };
}
