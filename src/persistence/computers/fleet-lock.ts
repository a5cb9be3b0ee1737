import { lockShared, lockExclusive } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/**
 * Prevents archiving and removal of an account's computers until the transaction ends, so that those selected for new
 * operations stay. Shared by its holders. Take it before any row lock, to avoid deadlocks.
 */
export async function lockFleetShared(tx: Sql, accountId: number): Promise<void> {
  await lockShared(tx, 'fleet', accountId);
}

/** Excludes all holders of {@link lockFleetShared} until the transaction ends. */
export async function lockFleetExclusive(tx: Sql, accountId: number): Promise<void> {
  await lockExclusive(tx, 'fleet', accountId);
}
