import { AsyncLocalStorage } from 'node:async_hooks';
import { type DatabaseConnection, PostgresDialect, PostgresDriver, type TransactionSettings } from 'kysely';
import pg, { type Pool } from 'pg';
import type { DatabaseLimits } from '../../process/config.ts';
import type { PoolState } from '../../process/metrics.ts';
import { NATIVE_TYPES } from '../database/native-types.ts';

export interface PoolOptions {
  url: string;
  poolSize: number;
  applicationName: string;
  onError?: (error: Error) => void;
  limits?: DatabaseLimits;
}

/** Opens a pool; it connects when needed. @param session - a statement that prepares each connection */
// Idle connections stay for ten minutes: new ones have no plans and a cold cache.
export function openPool(options: PoolOptions, session?: string): Pool {
  const onError = connectionErrorHandler(options);
  const pool = new pg.Pool({
    // The driver reads sslmode and certificates from the URL.
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    types: NATIVE_TYPES,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 600_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...limitsOf(options),
    onConnect: async (client) => {
      if (session !== undefined) await client.query(session);
    },
  });
  pool.on('error', onError);
  // The pool does not handle errors of a client that is checked out; unhandled, they would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

/** Logs outside the async context of the request that happened to open the connection. */
function connectionErrorHandler({ onError }: PoolOptions): (error: Error) => void {
  const outside = AsyncLocalStorage.snapshot();
  return (error) => outside(() => onError?.(error));
}

function limitsOf({ limits }: PoolOptions) {
  if (!limits) return {};
  return {
    statement_timeout: limits.statementSeconds * 1000,
    lock_timeout: limits.lockSeconds * 1000,
    idle_in_transaction_session_timeout: limits.idleSeconds * 1000,
  };
}

export function poolState(name: string, pool: Pool): PoolState {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { name, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max: options.max };
}

/** Kysely's dialect for MikroORM, over a pool of {@link openPool}. */
export class PoolDialect extends PostgresDialect {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): PostgresDriver {
    return new PoolDriver({ pool: this.#pool });
  }
}

/** Kysely keeps the connection of a controlled transaction whose `begin` or `rollback` fails; the pool would run dry. */
class PoolDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await this.#releaseOnError(connection, super.beginTransaction(connection, settings));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#releaseOnError(connection, super.rollbackTransaction(connection));
  }

  async #releaseOnError(connection: DatabaseConnection, done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (error) {
      await this.releaseConnection(connection as Parameters<PostgresDriver['releaseConnection']>[0]);
      throw error;
    }
  }
}
