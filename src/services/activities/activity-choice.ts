import { DomainError } from '../../domain/common/errors.ts';
import { selectActivities } from '../../persistence/activities/activities.sql.ts';
import { lockBatchesOf } from '../../persistence/activities/activity-cancel.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareActivityQuery } from '../query/activity-queries.ts';
import type { ActingQuery } from '../query/computer-queries.ts';
import { scopeOf } from './activity-rights.ts';

/** The activities of a request: distinct ids, or all visible matches of a query. */
export type ActivityChoice = { ids: readonly number[] } | { query: ActingQuery };

/** Maximum number of matches of a query. */
const MAX_CHOSEN = 100_000;

/**
 * Locks the batches of the chosen activities, so that no status changes during the transaction. Activities that no
 * longer match the query once locked are omitted. Ids are not validated.
 * @returns ids in the requested order, newest first for a query
 * @throws {DomainError} InvalidQueryError; SavedSearchChanged; InvalidParameter for too many matches
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
    const message = `must not mean more than ${MAX_CHOSEN} activities`;
    throw new DomainError('InvalidParameter', `query ${message}`, { details: [{ path: 'body.query', message }] });
  }
  if (found.length === 0) return [];
  await lockBatchesOf(tx, caller.accountId, found);
  return selectActivities(tx, scope, selection, MAX_CHOSEN, found);
}
