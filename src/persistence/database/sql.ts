import type { EntityManager as PostgreSqlEntityManager, TransactionOptions } from '@mikro-orm/postgresql';
import type { PoolClient, QueryResultRow } from 'pg';
import type { Parameters } from './named-parameters.ts';

/** Extended by `orm/entities.ts`, which knows all entities: their types are known here without an import. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations are merged into it
export interface Registry {}

export type EntityManager = PostgreSqlEntityManager & {
  '~entities'?: Registry extends { entities: infer Entities } ? Entities : never;
};

/** The database, or a transaction on it. Rows have native types: `bigint` as number, `timestamptz` as Date. */
export interface Sql {
  /** In a transaction it flushes before `query` and commit, not before `em.getKysely()`. Outside, new per use. */
  readonly em: EntityManager;
  /** Parameters are named (`:account`); only tests number them, in an array. @param name - prepares it once per connection */
  query<R extends object = QueryResultRow>(text: string, parameters?: Parameters, name?: string): Promise<R[]>;
}

export interface Database extends Sql {
  /** Rolls back when `work` throws; after deadlocks runs it up to four times in all: it must have no other effects. */
  transaction<T>(work: (tx: Sql) => Promise<T>, options?: Pick<TransactionOptions, 'isolationLevel'>): Promise<T>;
  /** A dedicated connection for LISTEN; the caller releases it. */
  connect(): Promise<PoolClient>;
}

/** LIKE pattern for texts that contain `part`, with its `%`, `_` and `\` escaped. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
