import { shareLock, takeLock } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/**
 * Keeps every computer of an account in its fleet until the transaction ends: whoever makes work for computers takes it
 * before looking at them, or one could leave between the look and the work. Takers do not wait for each other.
 *
 * @remarks Taken before any row lock, so that it cannot deadlock.
 */
export async function keepFleet(tx: Sql, accountId: number): Promise<void> {
  await shareLock(tx, 'fleet', accountId);
}

/** Waits until nobody makes work for computers of an account, and holds off who would, until the transaction ends. */
export async function shrinkFleet(tx: Sql, accountId: number): Promise<void> {
  await takeLock(tx, 'fleet', accountId);
}
