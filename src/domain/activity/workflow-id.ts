/** What stands before the activity id in every workflow id of an activity; SQL that makes rows in bulk builds on it. */
export const ACTIVITY_WORKFLOW_PREFIX = 'activity/';

/** Id of the workflow that drives activity `id`, be it a group or an operation on one computer. */
export function activityWorkflowId(id: number): string {
  return `${ACTIVITY_WORKFLOW_PREFIX}${id}`;
}

/** Id of lane number `ordinal` (from 1) of a large group. */
export function laneWorkflowId(groupId: number, ordinal: number): string {
  return `${ACTIVITY_WORKFLOW_PREFIX}${groupId}/lane/${ordinal}`;
}

/** The activity id in a workflow id, or null when it is of another kind. */
export function parseActivityWorkflowId(workflowId: string): number | null {
  const match = /^activity\/(\d{1,10})$/.exec(workflowId);
  return match ? Number(match[1]) : null;
}
