import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';
import type { OperationResult } from '../facts/facts.ts';
import { saveRejected } from '../facts/saving/save-facts.ts';
import type { Session } from './session.ts';

/**
 * Logs results that were ignored: of finished and unknown operations in passing, of another computer's as suspicious,
 * and counts the latter.
 */
export async function noteForeignResults(
  deps: { db: Database; logger: Logger },
  session: Session,
  results: readonly OperationResult[],
  accepted: ReadonlySet<number>,
  now: Date,
): Promise<void> {
  const ignored = results.map((result) => result.operationId).filter((id) => !accepted.has(id));
  if (ignored.length === 0) return;
  const { computerId } = session;
  deps.logger.info({ computerId, operationIds: ignored }, 'ignored results of operations that wait for none');
  const foreign = await deps.db.query<{ id: number }>(
    'select id from activity where id = any($1::int[]) and computer_id <> $2',
    [ignored, computerId],
  );
  if (foreign.length === 0) return;
  deps.logger.warn(
    { computerId, operationIds: foreign.map((row) => row.id) },
    "results of another computer's operations",
  );
  const rejected = foreign.map(() => ({ type: 'operation-result', reason: 'an operation of another computer' }));
  await saveRejected(deps.db, computerId, rejected, now);
}
