export interface ReportInput {
  /** Id of the activity row. */
  id: number;
}
