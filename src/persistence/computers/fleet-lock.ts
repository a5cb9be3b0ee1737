import { lockShared, lockExclusive } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/**
 * Keeps every computer of an account in its fleet until the transaction ends: whoever makes work for computers takes it
 * before looking at them, or one could leave between the look and the work. Takers do not wait for each other.
 *
 * @remarks Taken before any row lock, so that it cannot deadlock.
 */
export async function lockFleetShared(tx: Sql, accountId: number): Promise<void> {
  await lockShared(tx, 'fleet', accountId);
}

/** Waits until nobody makes work for computers of an account, and holds off who would, until the transaction ends. */
export async function lockFleetExclusive(tx: Sql, accountId: number): Promise<void> {
  await lockExclusive(tx, 'fleet', accountId);
}
