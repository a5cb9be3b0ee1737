import type { ProfileKindName, RunStart } from '../../src/domain/schedules/profile-schedule.ts';

export type { ProfileKindName };

/** Started by the schedule of a profile: creates the run of one date, then plans further dates. */
export const PROFILE_TRIGGER_WORKFLOW = 'profileTrigger';

/** Id prefix of a schedule's workflows; the server appends `-` and the date. */
export function triggerWorkflowId(kind: ProfileKindName, profileId: number): string {
  return `${kind}-run/${profileId}`;
}

const DATED_ID = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;

/** The date that the server appended to a workflow id; null without one. */
export function parseTriggerDate(workflowId: string): Date | null {
  const match = DATED_ID.exec(workflowId);
  return match ? new Date(match[1]!) : null;
}

export interface ProfileTriggerInput {
  kind: ProfileKindName;
  profileId: number;
}

export interface ProfileTriggerResult extends RunStart {
  /** ISO 8601 in UTC. */
  scheduledTime: string;
}
