import type { Client } from '@temporalio/client';
import type { LaneActivities } from '../../workflows/contracts/activities.ts';
import { reached } from '../reached.ts';

/** @see LaneActivities.requestCancel */
export function requestCancelOf(client: Client): LaneActivities['requestCancel'] {
  return async (workflowId, runId) => {
    await reached(client.workflow.getHandle(workflowId, runId).cancel());
  };
}
