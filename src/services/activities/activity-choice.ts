import { DomainError } from '../../domain/common/errors.ts';
import { selectActivities } from '../../persistence/activities/activities.sql.ts';
import { lockBatchesOf } from '../../persistence/activities/activity-cancel.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareActivityQuery } from '../query/activity-queries.ts';
import type { ActingQuery } from '../query/computer-queries.ts';
import { scopeOf } from './activity-rights.ts';

export type ActivityChoice = { ids: readonly number[] } | { query: ActingQuery };

const MAX_CHOSEN = 100_000;

/**
 * Locks the batches, so that no status changes in `tx`; omits activities that no longer match. Returns ids as requested
 * (not validated), or newest first.
 * @throws {DomainError} InvalidQueryError, SavedSearchChanged; InvalidParameter for too many
 */
export async function lockChosen(tx: Sql, clock: Clock, caller: Caller, choice: ActivityChoice): Promise<number[]> {
  if ('ids' in choice) {
    const ids = [...new Set(choice.ids)];
    await lockBatchesOf(tx, caller.accountId, ids);
    return ids;
  }
  const { text, seen } = choice.query;
  const selection = await prepareActivityQuery({ db: tx, clock }, caller.accountId, text, 'body.query', seen);
  const scope = scopeOf(caller);
  const found = await selectActivities(tx, scope, selection, MAX_CHOSEN + 1);
  if (found.length > MAX_CHOSEN) {
    const message = `must not match more than ${MAX_CHOSEN} activities`;
    throw new DomainError('InvalidParameter', `query ${message}`, { details: [{ path: 'body.query', message }] });
  }
  if (found.length === 0) return [];
  await lockBatchesOf(tx, caller.accountId, found);
  return selectActivities(tx, scope, selection, MAX_CHOSEN, found);
}
