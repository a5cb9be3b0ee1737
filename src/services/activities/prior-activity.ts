import { DomainError } from '../../domain/common/errors.ts';
import { findActivities } from '../../persistence/activities/activities.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { awaitActivity } from '../../persistence/engine/prior-activities.sql.ts';
import type { Caller } from '../common/ports.ts';
import { scopeOf, unknownActivities } from './activity-rights.ts';

/**
 * Checks that new operations on some computers may wait for the success of an activity, and locks its batches. Call
 * before locking rows that come after batches in the lock order.
 * @param after - null or undefined for none
 * @returns its id for the plan of the group; null for none
 * @throws {DomainError} UnknownActivity when it does not exist or is not visible; InvalidParameter when it has no
 * operation on one of the computers
 */
export async function requirePrior(
  tx: Sql,
  caller: Caller,
  after: number | null | undefined,
  computers: readonly number[],
  now: Date,
): Promise<number | null> {
  if (after === null || after === undefined) return null;
  const [prior] = await findActivities(tx, scopeOf(caller), [after], now);
  if (!prior) throw unknownActivities([after]);
  const without = await awaitActivity(tx, caller.accountId, after, computers);
  if (without.length === 0) return after;
  throw new DomainError('InvalidParameter', `after: activity ${after} has no operation on computer ${without[0]}`, {
    details: without.slice(0, MAX_DETAILS).map((id) => ({
      path: 'body.after',
      id,
      message: `activity ${after} does nothing here`,
    })),
  });
}

const MAX_DETAILS = 100;
