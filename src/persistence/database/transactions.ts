import type { Sql } from './sql.ts';

/** Runs a part of a transaction. If it throws, only its own changes are rolled back, and the transaction can go on. */
export async function withSavepoint<T>(tx: Sql, work: () => Promise<T>): Promise<T> {
  await tx.query('savepoint part');
  try {
    return await work();
  } catch (error) {
    await tx.query('rollback to savepoint part');
    throw error;
  } finally {
    await tx.query('release savepoint part');
  }
}

/** Makes all statements of a transaction read one snapshot. Call it first. */
export async function readOneSnapshot(tx: Sql): Promise<void> {
  await tx.query('set transaction isolation level repeatable read');
}

/** @throws if the connection, or every connection of a pool, is lost */
export async function checkConnection(sql: { query(text: string): Promise<unknown> }): Promise<void> {
  await sql.query('select 1');
}
