import type { Client } from '@temporalio/client';
import type { CancelActivities } from '../../workflows/contracts/activities.ts';
import { ignoreNotFound } from '../ignore-not-found.ts';

/** See {@link CancelActivities.cancelRun}. */
export function cancelRunWith(client: Client): CancelActivities['cancelRun'] {
  return async ({ workflowId, runId }) => {
    await ignoreNotFound(client.workflow.getHandle(workflowId, runId).cancel());
  };
}
