/** What stands before the activity id in every workflow id of an activity; SQL that makes rows in bulk builds on it. */
export const ACTIVITY_WORKFLOW_PREFIX = 'activity/';
/** What stands between the id of a group and the number of a batch. */
const BATCH_INFIX = '/lane/';

const OF_ACTIVITY = new RegExp(`^${ACTIVITY_WORKFLOW_PREFIX}(\\d{1,10})$`);
const OF_ACTIVITY_OR_BATCH = new RegExp(`^${ACTIVITY_WORKFLOW_PREFIX}(\\d{1,10})(?:${BATCH_INFIX}\\d+)?$`);

/** Id of the workflow that drives activity `id`, be it a group or an operation on one computer. */
export function activityWorkflowId(id: number): string {
  return `${ACTIVITY_WORKFLOW_PREFIX}${id}`;
}

/** Id of batch number `ordinal` (from 1) of a large group. */
export function batchWorkflowId(groupId: number, ordinal: number): string {
  return `${ACTIVITY_WORKFLOW_PREFIX}${groupId}${BATCH_INFIX}${ordinal}`;
}

/** The activity id in a workflow id, or null when it is of another kind. */
export function parseActivityWorkflowId(workflowId: string): number | null {
  const match = OF_ACTIVITY.exec(workflowId);
  return match ? Number(match[1]) : null;
}

/** The activity that a workflow belongs to, as its own or that of one of its batches; null when it is of another kind. */
export function parseWorkflowOwner(workflowId: string): number | null {
  const match = OF_ACTIVITY_OR_BATCH.exec(workflowId);
  return match ? Number(match[1]) : null;
}
