import { ApplicationFailure } from '@temporalio/activity';
import { DomainError } from '../../src/domain/common/errors.ts';
import { isStatementDefect } from '../../src/persistence/database/errors.ts';
import { FAILURE_TYPES } from '../../workflows/contracts/failures.ts';

/** Built-in errors that indicate a defect in code or stored data; one with a cause may wrap a network error. */
const DEFECTS = [TypeError, ReferenceError, RangeError, SyntaxError];

/** A named, non-retryable failure where a retry cannot help; any other error unchanged. @see docs/architecture.md#failures */
export function toActivityFailure(error: unknown): unknown {
  if (error instanceof DomainError && error.code === 'UnknownActivity') return final(error, FAILURE_TYPES.missingRow);
  if (DEFECTS.some((type) => error instanceof type) && (error as Error).cause === undefined) {
    return final(error as Error, FAILURE_TYPES.defect);
  }
  return isStatementDefect(error) ? final(error as Error, FAILURE_TYPES.defect) : error;
}

function final(error: Error, type: string): ApplicationFailure {
  return ApplicationFailure.create({ message: error.message, type, nonRetryable: true, cause: error });
}
