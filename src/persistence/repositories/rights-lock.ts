import type { Sql } from '../sql.ts';

const LOCK_CLASS = 7160;

/**
 * Makes changes of one account's administrators, roles, invitations and access groups wait for each other until the
 * transaction ends. Taken before any row of them, so that they cannot deadlock; readers and computers are not held up.
 */
export async function lockRights(tx: Sql, accountId: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, accountId]);
}
