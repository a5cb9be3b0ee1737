import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { LaneActivities } from '../../workflows/contracts/activities.ts';

/** @see LaneActivities.requestCancel */
export function requestCancelOf(client: Client): LaneActivities['requestCancel'] {
  return async (workflowId, runId) => {
    try {
      await client.workflow.getHandle(workflowId, runId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}
