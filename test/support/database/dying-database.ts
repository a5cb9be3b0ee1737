import type { Database } from '../../../src/persistence/database/sql.ts';

/** A database whose process dies after so many statements of a transaction. */
export function dyingAfter(db: Database, statements: number): Database {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        let left = statements;
        return work({
          ...tx,
          query: (text, values, name) => {
            if (left-- === 0) throw new Error('killed');
            return tx.query(text, values, name);
          },
        });
      }),
  };
}
