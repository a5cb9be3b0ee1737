import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import {
  type ProfileTriggerInput,
  type ProfileTriggerResult,
  parseTriggerDate,
} from './contracts/profile-trigger.contract.ts';
import { scheduledActivities } from './support/scheduled-activities.ts';

/** Set by the server on every workflow that a schedule starts. */
const SCHEDULED_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/** One date of a profile's schedule. @see docs/architecture.md#schedules-of-profiles */
export async function profileTrigger({ kind, profileId }: ProfileTriggerInput): Promise<ProfileTriggerResult> {
  const scheduledTime = readScheduledTime();
  const start = await scheduledActivities.startRun({ kind, profileId, scheduledTime });
  await scheduledActivities.extendSchedule({ kind, profileId });
  return { scheduledTime, ...start };
}

function readScheduledTime(): string {
  const { typedSearchAttributes, workflowId, startTime } = workflowInfo();
  const time = typedSearchAttributes.get(SCHEDULED_TIME) ?? parseTriggerDate(workflowId) ?? startTime;
  return new Date(Math.floor(time.getTime() / 1000) * 1000).toISOString();
}
