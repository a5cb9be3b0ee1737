import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { LaneActivities } from '../contracts/activities.ts';
import { PATIENT, QUICK, runStep } from './step.ts';

const quick = proxyLocalActivities<LaneActivities>(QUICK);
const patient = proxyActivities<LaneActivities>(PATIENT);

/** The steps of LaneActivities for workflow code. @see docs/architecture.md#processing-pending-events */
export const steps: LaneActivities = {
  advance: (lane, cancelAll) => run('advance', lane, cancelAll),
  begin: (activity) => run('begin', activity),
  settle: (activity, cancelAll) => run('settle', activity, cancelAll),
};

function run<K extends keyof LaneActivities>(
  step: K,
  ...args: Parameters<LaneActivities[K]>
): ReturnType<LaneActivities[K]> {
  const call = (on: LaneActivities) => (on[step] as (...a: typeof args) => Promise<unknown>)(...args);
  return runStep(
    () => call(quick),
    () => call(patient),
  ) as ReturnType<LaneActivities[K]>;
}
