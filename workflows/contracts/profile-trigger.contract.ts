import type { ProfileKindName } from '../../src/domain/schedule/schedule-id.ts';

export {
  PROFILE_KINDS,
  type ProfileKindName,
  parseScheduleId,
  scheduleIdOf,
} from '../../src/domain/schedule/schedule-id.ts';

/** Workflow type that the schedule of a profile starts: makes the run of one date, then sees to the next ones. */
export const PROFILE_TRIGGER_WORKFLOW = 'profileTrigger';

/** Id of the workflows of a schedule; the server appends `-` and the date. */
export function triggerWorkflowId(kind: ProfileKindName, profileId: number): string {
  return `${kind}-run/${profileId}`;
}

export interface ProfileTriggerInput {
  kind: ProfileKindName;
  profileId: number;
}

export interface ProfileTriggerResult {
  /** The date it was planned for, ISO 8601 in UTC. */
  nominalTime: string;
  /** What became of it, see `DueOutcome` of the services. */
  outcome: string;
}
