import type { OperationResult } from '../../domain/agents/facts.ts';
import type { Session } from '../../domain/agents/session.ts';
import { saveRejected } from '../../persistence/agents/rejected-messages.sql.ts';
import { findOperationsOfOthers } from '../../persistence/agents/sessions.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';

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
  const ofOthers = await findOperationsOfOthers(db, computerId, ignored);
  if (ofOthers.length === 0) return;
  logger.warn({ computerId, operationIds: ofOthers }, "results of another computer's operations");
  const rejected = ofOthers.map(() => ({ type: 'operation-result', reason: 'an operation of another computer' }));
  await saveRejected(db, computerId, rejected, now);
}
