import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';
import type { OperationResult } from '../facts/facts.ts';
import { saveRejected } from '../facts/saving/save-facts.ts';
import type { Session } from './session.ts';

/** Logs results without effect; those of another computer's operations are suspicious and are counted. */
export async function logIgnoredResults(
  { db, logger }: { db: Database; logger: Logger },
  { computerId }: Session,
  results: readonly OperationResult[],
  accepted: ReadonlySet<number>,
  now: Date,
): Promise<void> {
  const ignored = results.map((result) => result.operationId).filter((id) => !accepted.has(id));
  if (ignored.length === 0) return;
  logger.info({ computerId, operationIds: ignored }, 'ignored results of operations that do not wait for one');
  const rows = await db.query<{ id: number }>(
    'select id from activity where id = any($1::int[]) and computer_id <> $2',
    [ignored, computerId],
  );
  if (rows.length === 0) return;
  logger.warn({ computerId, operationIds: rows.map((row) => row.id) }, "results of another computer's operations");
  const rejected = rows.map(() => ({ type: 'operation-result', reason: 'an operation of another computer' }));
  await saveRejected(db, computerId, rejected, now);
}
