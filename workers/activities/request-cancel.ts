import type { Client } from '@temporalio/client';
import type { CancelActivities } from '../../workflows/contracts/activities.ts';
import { reached } from '../reached.ts';

/** See {@link CancelActivities.cancelRun}. */
export function cancelRunWith(client: Client): CancelActivities['cancelRun'] {
  return async ({ workflowId, runId }) => {
    await reached(client.workflow.getHandle(workflowId, runId).cancel());
  };
}
