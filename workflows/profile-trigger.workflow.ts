import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { ProfileActivities } from './contracts/activities.ts';
import {
  type ProfileTriggerInput,
  type ProfileTriggerResult,
  parseTriggerDate,
} from './contracts/profile-trigger.contract.ts';
import { proxyDatabaseActivities } from './support/database-activities.ts';

const { startDueRun, refillSchedule } = proxyDatabaseActivities<ProfileActivities>();

/** Set by the server on every workflow that a schedule starts. */
const NOMINAL_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * One date of a profile's schedule. Thin: the run itself is an activity like those of API requests.
 * @see docs/architecture.md#schedules-of-profiles
 */
export async function profileTrigger({ kind, profileId }: ProfileTriggerInput): Promise<ProfileTriggerResult> {
  const nominalTime = readNominalTime();
  const outcome = await startDueRun(kind, profileId, nominalTime);
  await refillSchedule(kind, profileId);
  return { nominalTime, outcome };
}

function readNominalTime(): string {
  const { typedSearchAttributes, workflowId, startTime } = workflowInfo();
  const nominal = typedSearchAttributes.get(NOMINAL_TIME) ?? parseTriggerDate(workflowId) ?? startTime;
  return new Date(Math.floor(nominal.getTime() / 1000) * 1000).toISOString();
}
