/** Prefix of all workflow ids of activities; also used in SQL that inserts rows in bulk. */
export const ACTIVITY_WORKFLOW_PREFIX = 'activity/';

const OF_ACTIVITY = new RegExp(`^${ACTIVITY_WORKFLOW_PREFIX}(\\d{1,10})$`);
const OF_ACTIVITY_OR_BATCH = new RegExp(`^${ACTIVITY_WORKFLOW_PREFIX}(\\d{1,10})(?:/lane/\\d+)?$`);

export function activityWorkflowId(id: number): string {
  return `${ACTIVITY_WORKFLOW_PREFIX}${id}`;
}

/** The activity id in a workflow id; null if it belongs to something else. */
export function parseActivityWorkflowId(workflowId: string): number | null {
  const match = OF_ACTIVITY.exec(workflowId);
  return match ? Number(match[1]) : null;
}

/** The activity of a workflow or of a batch (`activity/7/lane/3`); null if it belongs to something else. */
export function parseWorkflowOwner(workflowId: string): number | null {
  const match = OF_ACTIVITY_OR_BATCH.exec(workflowId);
  return match ? Number(match[1]) : null;
}
