import { DomainError } from '../../domain/common/errors.ts';
import { findActivities } from '../../persistence/activities/activities.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { awaitActivity } from '../../persistence/engine/prior-activities.sql.ts';
import type { Caller } from '../common/ports.ts';
import { scopeOf, unknownActivities } from './activity-rights.ts';

/**
 * Checks and locks the activity that new operations wait for; null for none. Call it before locking rows later in the
 * lock order. @throws {DomainError} UnknownActivity; InvalidParameter when it has no operation on one of the computers
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
      message: `activity ${after} has no operation on this computer`,
    })),
  });
}

const MAX_DETAILS = 100;
