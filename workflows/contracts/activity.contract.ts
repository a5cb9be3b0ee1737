/** Workflow type of a group: starts the lanes of one parent activity and closes with its status. */
export const ACTIVITY_WORKFLOW = 'activity';

export interface ActivityInput {
  /** Id of the parent activity row. */
  id: number;
}

/** Id of the workflow that drives activity `id`, be it a group or an operation on one computer. */
export function activityWorkflowId(id: number): string {
  return `activity/${id}`;
}

/** The activity id in a workflow id, or null when it is of another kind. */
export function parseActivityWorkflowId(workflowId: string): number | null {
  const match = /^activity\/(\d{1,10})$/.exec(workflowId);
  return match ? Number(match[1]) : null;
}
