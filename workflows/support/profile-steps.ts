import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ProfileActivities } from '../contracts/activities.ts';
import { PATIENT, QUICK, runStep } from './step.ts';

const quick = proxyLocalActivities<ProfileActivities>(QUICK);
const patient = proxyActivities<ProfileActivities>(PATIENT);

/** The steps of ProfileActivities for workflow code. @see docs/architecture.md#schedules-of-profiles */
export const profileSteps: ProfileActivities = {
  startDueRun: (kind, profileId, nominalTime) =>
    runStep(
      () => quick.startDueRun(kind, profileId, nominalTime),
      () => patient.startDueRun(kind, profileId, nominalTime),
    ),
  refillSchedule: (kind, profileId) =>
    runStep(
      () => quick.refillSchedule(kind, profileId),
      () => patient.refillSchedule(kind, profileId),
    ),
};
