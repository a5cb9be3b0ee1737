export interface ReportInput {
  id: number;
}
