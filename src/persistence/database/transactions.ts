import type { Sql } from './sql.ts';

/**
 * Runs a part of a transaction. If it throws, only its own changes are rolled back, and the transaction can go on; a
 * nested transaction of MikroORM would then leave its savepoint open. @param keep - false: its changes are rolled back
 */
export async function withSavepoint<T>(tx: Sql, work: () => Promise<T>, keep = true): Promise<T> {
  await tx.query('savepoint part');
  try {
    const result = await work();
    await tx.query(keep ? 'release savepoint part' : 'rollback to savepoint part');
    return result;
  } catch (error) {
    await tx.query('rollback to savepoint part');
    await tx.query('release savepoint part');
    throw error;
  }
}

/** Has this transaction planned as outside the pool of generic plans: its statements change sets of rows, not rows by key. */
export async function useDefaultPlanning(tx: Sql): Promise<void> {
  await tx.query(`select set_config('plan_cache_mode', 'auto', true), set_config('enable_seqscan', 'on', true)`);
}

/** @throws if the connection, or every connection of a pool, is lost */
export async function checkConnection(sql: { query(text: string): Promise<unknown> }): Promise<void> {
  await sql.query('select 1');
}
