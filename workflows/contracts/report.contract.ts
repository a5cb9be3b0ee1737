/** Workflow type of one report; its id is that of its activity, as of every workflow of an activity. */
export const REPORT_WORKFLOW = 'reportActivity';

export interface ReportInput {
  /** Id of the activity row. */
  id: number;
}
