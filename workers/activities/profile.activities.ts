import type { ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import type { ProfileActivities } from '../../workflows/contracts/activities.ts';
import type { ProfileKindName } from '../../workflows/contracts/profile-trigger.contract.ts';

/**
 * The steps of `profileTrigger` over the kinds of profiles; each is harmless when run again.
 *
 * @remarks A kind that is not known came with a newer build: the step fails until a worker of that build takes a try.
 */
export function createProfileActivities(deps: { kinds: ProfileKinds; clock: { now(): Date } }): ProfileActivities {
  const kindOf = (name: ProfileKindName): ProfileKind => {
    const kind = deps.kinds.get(name);
    if (!kind) throw new Error(`this worker knows no profiles of the kind ${name}`);
    return kind;
  };
  return {
    startDueRun: (kind, profileId, nominalTime) =>
      kindOf(kind).startDue(profileId, new Date(nominalTime), deps.clock.now()),
    refillSchedule: (kind, profileId) => kindOf(kind).refill(profileId, deps.clock.now()),
  };
}
