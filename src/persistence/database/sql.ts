import type { EntityManager as PostgreSqlEntityManager } from '@mikro-orm/postgresql';
import type { PoolClient, QueryResultRow } from 'pg';
import type { Parameters } from './named-parameters.ts';

/** Extended by `orm/entities.ts`, which knows all entities: their types are known here without an import. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations are merged into it
export interface Registry {}

/** MikroORM's entity manager; `getKysely` knows the tables of all entities. */
export type EntityManager = PostgreSqlEntityManager & {
  '~entities'?: Registry extends { entities: infer Entities } ? Entities : never;
};

/**
 * The database, or one transaction on it: entities and parameterized SQL. Rows have native types: `int` and `bigint` as
 * number, `timestamptz` as Date, `jsonb` parsed.
 */
export interface Sql {
  /**
   * In a transaction its entity manager, which writes changed entities before the commit, and before each `query`; flush
   * before statements of `em.getKysely()` that should see them. Outside of one, a new entity manager for each use.
   */
  readonly em: EntityManager;
  /**
   * Runs one statement.
   * @param text - the SQL with named parameters (`:account`), or `$1`, `$2`, ... where it is composed
   * @param name - when given, it is prepared once per connection under this name
   */
  query<R extends object = QueryResultRow>(text: string, parameters?: Parameters, name?: string): Promise<R[]>;
}

/** A pool: single statements, or several in one transaction of MikroORM. */
export interface Database extends Sql {
  /**
   * Runs `work` in one transaction on its own connection; rolls back when it throws. After a deadlock or serialization
   * failure `work` runs again, up to four times in all: it must have no other effects before it returns.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** A dedicated connection for LISTEN; the caller releases it. */
  connect(): Promise<PoolClient>;
}

/** LIKE pattern for texts that contain `part`, with its `%`, `_` and `\` escaped. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
