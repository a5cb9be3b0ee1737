import { CompiledQuery, type Transaction } from 'kysely';
import pRetry from 'p-retry';
import type { Pool } from 'pg';
import { inChildSpan } from '../../process/tracing.ts';
import { isSerializationFailure } from '../database/errors.ts';
import { type Parameters, positional } from '../database/named-parameters.ts';
import type { Database, EntityManager, Sql } from '../database/sql.ts';

const MAX_ATTEMPTS = 4;
const FIRST_RETRY_MS = 15;

/** Statements and transactions over a pool. Transactions that PostgreSQL aborts for another one are repeated. */
export function createDatabase(pool: Pool, em: EntityManager): Database {
  return {
    get em() {
      return em.fork();
    },
    async query<R extends object>(text: string, parameters: Parameters = [], name?: string) {
      const { rows } = await pool.query<R>({ ...positional(text, parameters), name });
      return rows;
    },
    connect: () => pool.connect(),
    transaction(work, options) {
      const attempt = () => em.fork().transactional((own) => work(statementsOf(own)), { ...options });
      const retries = {
        retries: MAX_ATTEMPTS - 1,
        minTimeout: FIRST_RETRY_MS,
        randomize: true,
        shouldRetry: ({ error }: { error: unknown }) => isSerializationFailure(error),
      };
      return inChildSpan('database transaction', () => pRetry(attempt, retries));
    },
  };
}

function statementsOf(em: EntityManager): Sql {
  const connection = em.getTransactionContext<Transaction<unknown>>()!;
  const unitOfWork = em.getUnitOfWork();
  return {
    em,
    async query<R extends object>(statement: string, parameters: Parameters = [], name?: string) {
      if (unitOfWork.getIdentityMap().keys().length > 0 || unitOfWork.getPersistStack().size > 0) await em.flush();
      const { text, values } = positional(statement, parameters);
      const compiled = CompiledQuery.raw(text, values);
      // Kysely hands the text to the driver as it is, and the driver takes a text with a name in its place.
      const named = name === undefined ? compiled : Object.assign({ ...compiled }, { sql: { text, name } });
      const { rows } = await connection.executeQuery<R>(named);
      return rows;
    },
  };
}
