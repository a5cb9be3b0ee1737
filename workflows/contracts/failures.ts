/** Failure types that operators see on closed workflows. */
export const FAILURE_TYPES = {
  /** A computer reported that it could not carry out its operation. */
  agent: 'AgentFailure',
  /** The server could not make a report. */
  report: 'ReportFailure',
} as const;

/** Messages of failures of type `agent`. */
export const AGENT_FAILURE_MESSAGES = {
  /** Of a workflow of one computer. */
  computer: 'the operation failed on the computer',
  /** Of a group. */
  group: 'the operation failed on some computers',
} as const;
