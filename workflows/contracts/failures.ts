/** Failure types that operators see on closed workflows. */
export const FAILURE_TYPES = {
  /** A computer reported that it could not carry out its operation. */
  agent: 'AgentFailure',
  /** The server could not make a report. */
  report: 'ReportFailure',
} as const;
