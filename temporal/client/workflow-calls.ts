import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { CancelActivities } from '../../workflows/contracts/activities.ts';
import { WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';

/** Awaits a call that needs an open workflow. @returns false when the workflow has ended or does not exist */
export function ignoreNotFound(call: Promise<unknown>): Promise<boolean> {
  return ignoreError(call, WorkflowNotFoundError);
}

/** Awaits a call. @returns false when it failed with this error */
export async function ignoreError(call: Promise<unknown>, ignored: new (...args: never[]) => Error): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof ignored) return false;
    throw error;
  }
}

/** Signals a batch to process its events; safe to lose or repeat. @returns false when its workflow has ended */
export function sendWakeUp(client: Client, workflowId: string, signal = WAKE_UP_SIGNAL): Promise<boolean> {
  return ignoreNotFound(client.workflow.getHandle(workflowId).signal(signal));
}

/** See {@link CancelActivities.cancelRun}. */
export function cancelRunWith(client: Client): CancelActivities['cancelRun'] {
  return async ({ workflowId, runId }) => {
    await ignoreNotFound(client.workflow.getHandle(workflowId, runId).cancel());
  };
}
