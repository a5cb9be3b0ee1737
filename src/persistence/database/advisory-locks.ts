import type { PoolClient } from 'pg';
import type { Sql } from './sql.ts';

/** Locks of a transaction, each for an id (of an account, a digest). Releases may overlap: never reassign a number. */
export const TRANSACTION_LOCKS = {
  rights: 7160,
  fleet: 7161,
  imports: 7162,
  searchTitles: 7164,
  // Older releases use 7161: while they run, two dispatchers may sync one schedule; the reconciler compares later.
  schedules: 7165,
  acceptance: 7166,
  fastAgents: 7167,
  webhooks: 7168,
} as const;
type TransactionLock = keyof typeof TRANSACTION_LOCKS;

/** Locks of a session. They have one key instead of two, so they never collide with those of transactions. */
export const SESSION_LOCKS = {
  repair: 7164,
  migration: 7_160_521,
  dispatcherLeader: 7_160_522,
} as const;

/** Waits for the locks on `subjects`, in ascending order against deadlocks, and holds them until the transaction ends. */
export async function lockExclusive(tx: Sql, lock: TransactionLock, ...subjects: number[]): Promise<void> {
  await tx.query(LOCK_EXCLUSIVE, lockValues(lock, subjects), 'lock-exclusive');
}

/** {@link lockExclusive} as a part of a statement, with {@link lockValues}. */
export const LOCK_EXCLUSIVE = 'select pg_advisory_xact_lock(:lock, s) from unnest(:subjects::int[]) s';

/** As {@link lockExclusive}, but shared with other callers of this. */
export async function lockShared(tx: Sql, lock: TransactionLock, ...subjects: number[]): Promise<void> {
  const values = lockValues(lock, subjects);
  await tx.query(
    'select pg_advisory_xact_lock_shared(:lock, s) from unnest(:subjects::int[]) s',
    values,
    'lock-shared',
  );
}

/** @param subjects - in any order, also several times */
export function lockValues(lock: TransactionLock, subjects: readonly number[]) {
  return { lock: TRANSACTION_LOCKS[lock], subjects: [...new Set(subjects)].sort((a, b) => a - b) };
}

/** Takes a session lock, held until the session is closed. @returns false when another session holds it */
export async function trySessionLock(session: PoolClient, lock: keyof typeof SESSION_LOCKS): Promise<boolean> {
  const { rows } = await session.query<{ got: boolean }>(`select pg_try_advisory_lock(${SESSION_LOCKS[lock]}) as got`);
  return rows[0]?.got === true;
}
