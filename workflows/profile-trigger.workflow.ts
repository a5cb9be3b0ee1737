import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import type { ProfileTriggerInput, ProfileTriggerResult } from './contracts/profile-trigger.contract.ts';
import { profileSteps } from './support/profile-steps.ts';

/** Set by the server on everything that a schedule starts. */
const NOMINAL_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);
const DATED_ID = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;

/**
 * One date of a profile's schedule. Thin: the run itself is an activity like those that requests make.
 *
 * @see temporal-design 6
 */
export async function profileTrigger({ kind, profileId }: ProfileTriggerInput): Promise<ProfileTriggerResult> {
  const nominalTime = readNominalTime();
  const outcome = await profileSteps.startDueRun(kind, profileId, nominalTime);
  await profileSteps.refillSchedule(kind, profileId);
  return { nominalTime, outcome };
}

function readNominalTime(): string {
  const { typedSearchAttributes, workflowId, startTime } = workflowInfo();
  const dated = DATED_ID.exec(workflowId)?.[1];
  const nominal = typedSearchAttributes.get(NOMINAL_TIME) ?? (dated ? new Date(dated) : startTime);
  return new Date(Math.floor(nominal.getTime() / 1000) * 1000).toISOString();
}
