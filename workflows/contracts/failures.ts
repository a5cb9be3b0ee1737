import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/** Failure types that operators see on closed workflows. */
export const FAILURE_TYPES = {
  /** A computer reported that it could not carry out its operation. */
  agent: 'AgentFailure',
  /** The server could not make a report. */
  report: 'ReportFailure',
  /** The row that a workflow is about is not there: somebody deleted it. */
  missingRow: 'MissingRow',
  /** This build knows no profiles of the kind: a newer one does. */
  unknownKind: 'UnknownKind',
  /** A defect of this build. */
  defect: 'Defect',
} as const;

/** Messages of failures of type `agent`. */
export const AGENT_FAILURE_MESSAGES = {
  /** Of a workflow of one computer. */
  computer: 'the operation failed on the computer',
  /** Of a group. */
  group: 'the operation failed on some computers',
} as const;

/** An operation that could not be carried out on its computer: nothing is wrong with the server. */
export function operationFailure(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: FAILURE_TYPES.agent,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
