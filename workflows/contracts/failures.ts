import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/** Failure types that operators see on closed workflows. */
export const FAILURE_TYPES = {
  agent: 'AgentFailure',
  report: 'ReportFailure',
  missingRow: 'MissingRow',
  /** Only a newer build supports profiles of this kind. */
  unknownKind: 'UnknownKind',
  defect: 'Defect',
} as const;

/** Messages of failures of type `agent`. */
export const AGENT_FAILURE_MESSAGES = {
  computer: 'the operation failed on the computer',
  group: 'the operation failed on some computers',
} as const;

/** An operation that failed on its computer: a benign failure, not a fault of the server. */
export function operationFailure(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: FAILURE_TYPES.agent,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
