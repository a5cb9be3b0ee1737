import { ApplicationFailure } from '@temporalio/activity';
import { DomainError } from '../src/domain/common/errors.ts';
import { FAILURE_TYPES } from '../workflows/contracts/failures.ts';

/** Errors of the language itself; with a cause they may wrap what a network did. */
const DEFECTS = [TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * What a Temporal activity is to fail with: a named failure that is not retried where trying again would change nothing,
 * because a row is missing or the code has a defect; anything else as it is, which is retried.
 * @see docs/architecture.md#failures
 */
export function toActivityFailure(error: unknown): unknown {
  if (error instanceof DomainError && error.code === 'UnknownActivity') return final(error, FAILURE_TYPES.missingRow);
  if (DEFECTS.some((type) => error instanceof type) && (error as Error).cause === undefined) {
    return final(error as Error, FAILURE_TYPES.defect);
  }
  return error;
}

function final(error: Error, type: string): ApplicationFailure {
  return ApplicationFailure.create({ message: error.message, type, nonRetryable: true, cause: error });
}
