import { takeLock } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/**
 * Makes changes of one account's administrators, roles, invitations and access groups wait for each other until the
 * transaction ends. Taken before any row of them, so that they cannot deadlock; readers and computers are not held up.
 */
export async function lockRights(tx: Sql, accountId: number): Promise<void> {
  await takeLock(tx, 'rights', accountId);
}
