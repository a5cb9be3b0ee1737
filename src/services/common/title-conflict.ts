import { DomainError, type ErrorCode } from '../../domain/common/errors.ts';
import { isUniqueViolation } from '../../persistence/database/errors.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';

/** A transaction. @throws {DomainError} the given one when a title is already in the unique index */
export async function withTitleConflict<T>(
  db: Database,
  { index, code, message }: { index: string; code: ErrorCode; message: string },
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  try {
    return await db.transaction(work);
  } catch (error) {
    if (!isUniqueViolation(error, index)) throw error;
    throw new DomainError(code, message);
  }
}
