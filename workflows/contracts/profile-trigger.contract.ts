import type { DueOutcome, ProfileKindName } from '../../src/domain/schedules/profile-schedule.ts';

export type { ProfileKindName };

/** Workflow type that the schedule of a profile starts: makes the run of one date, then sees to the next ones. */
export const PROFILE_TRIGGER_WORKFLOW = 'profileTrigger';

/** Id of the workflows of a schedule; the server appends `-` and the date. */
export function triggerWorkflowId(kind: ProfileKindName, profileId: number): string {
  return `${kind}-run/${profileId}`;
}

const DATED_ID = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;

/** The date that the server appended to the id of a workflow; null when it appended none. */
export function parseTriggerDate(workflowId: string): Date | null {
  const match = DATED_ID.exec(workflowId);
  return match ? new Date(match[1]!) : null;
}

export interface ProfileTriggerInput {
  kind: ProfileKindName;
  profileId: number;
}

export interface ProfileTriggerResult {
  /** The date it was planned for, ISO 8601 in UTC. */
  nominalTime: string;
  outcome: DueOutcome;
}
