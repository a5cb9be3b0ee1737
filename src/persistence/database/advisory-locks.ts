import type { PoolClient } from 'pg';
import type { Sql } from './sql.ts';

/**
 * Locks that a transaction takes, each for one number of something (an account, a digest). Builds of two releases run
 * beside each other: what a number locks is never changed.
 */
export const TRANSACTION_LOCKS = {
  rights: 7160,
  fleet: 7161,
  imports: 7162,
  searchTitles: 7164,
  // Older builds take 7161: beside them two may make one schedule equal to its row, and the reconciler compares later.
  schedules: 7165,
  acceptance: 7166,
} as const;
export type TransactionLock = keyof typeof TRANSACTION_LOCKS;

/** Locks that a session holds. They have one number, so PostgreSQL never takes them for those of transactions. */
export const SESSION_LOCKS = {
  repair: 7164,
  migration: 7_160_521,
  relayLeader: 7_160_522,
} as const;

/** Waits until nobody else has the lock for `subject`, and keeps it until the transaction ends. */
export async function takeLock(tx: Sql, lock: TransactionLock, subject: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', [TRANSACTION_LOCKS[lock], subject]);
}

/** As {@link takeLock}, among any number of others that share it. */
export async function shareLock(tx: Sql, lock: TransactionLock, subject: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock_shared($1, $2)', [TRANSACTION_LOCKS[lock], subject]);
}

/** Takes a lock of a session, which keeps it until it is closed. @returns false when another session has it */
export async function trySessionLock(session: PoolClient, lock: keyof typeof SESSION_LOCKS): Promise<boolean> {
  const { rows } = await session.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [
    SESSION_LOCKS[lock],
  ]);
  return rows[0]?.got === true;
}
