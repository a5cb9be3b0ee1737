import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg';
import type { DatabaseLimits } from '../../process/config.ts';
import type { PoolState } from '../../process/metrics.ts';
import { inChildSpan } from '../../process/tracing.ts';
import { SESSION_LOCKS } from '../database/advisory-locks.ts';
import { isSerializationFailure } from '../database/errors.ts';
import { NATIVE_TYPES } from '../database/native-types.ts';
import type { Database, Sql } from '../database/sql.ts';
import * as entities from './entities.ts';
import { MIGRATIONS } from './migrations/index.ts';
import type { Logger } from '../../process/logger.ts';

/** The database of one process: MikroORM for entities that are written, plain SQL for sets and lists, over one pool. */
export interface Persistence {
  orm: MikroORM;
  db: Database;
  /**
   * A second pool of the same size, for statements that find every row by a key. Their generic plans, made once per
   * connection, always use indexes: planning can cost several times the execution, and a plan made for an empty table
   * would still scan it after it has grown.
   */
  genericPlanDb: Database;
  /** Plain SQL in the transaction of `em`. */
  within(em: EntityManager): Sql;
  pools(): PoolState[];
  close(): Promise<void>;
}

export interface PersistenceOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  onError?: (error: Error) => void;
  /** Limits enforced by the server for each statement and transaction; absent for none, as in migrations. */
  limits?: DatabaseLimits;
  /** Succeeds without a server; statements fail until it is available. */
  lazy?: boolean;
}

/** Opens the pool without touching the schema. @throws when the server cannot be reached, unless `lazy` */
export async function openPersistence(options: PersistenceOptions): Promise<Persistence> {
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: Object.values(entities),
    extensions: [Migrator],
    migrations: {
      migrationsList: MIGRATIONS,
      snapshot: false,
      tableName: 'schema_migration',
      silent: true,
      // A transaction for each: locks stay short, and an index can be built without one.
      allOrNothing: false,
    },
    forceUtcTimezone: true,
    pool: { min: 0, max: options.poolSize },
    driverOptions: {
      // The driver reads sslmode and certificates from the URL.
      connectionString: options.url,
      application_name: options.applicationName,
      ...CONNECTION,
      ...limitsOf(options),
    },
    logger: (message) => options.onError?.(new Error(message)),
    debug: false,
  });
  if (options.lazy) await orm.driver.connect({ skipOnConnect: true });
  const pool = (await orm.em.getConnection().getNativeClient()) as Pool;
  pool.on('error', connectionErrorHandler(options));
  const genericPlanPool = openGenericPlanPool(options);
  const close = async () => {
    await Promise.all([orm.close(), genericPlanPool.end()]);
  };
  const pools = () => [poolState('main', pool), poolState('keyed', genericPlanPool)];
  return {
    orm,
    db: createDatabase(pool, MAX_ATTEMPTS),
    genericPlanDb: createDatabase(genericPlanPool),
    within,
    pools,
    close,
  };
}

/** Logs outside the async context of the request that happened to open the connection. */
function connectionErrorHandler({ onError }: PersistenceOptions): (error: Error) => void {
  const outside = AsyncLocalStorage.snapshot();
  return (error) => outside(() => onError?.(error));
}

function poolState(name: string, { totalCount, idleCount, waitingCount, options: { max } }: Pool): PoolState {
  return { name, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max: max ?? totalCount };
}

/**
 * Keep-alive probes detect unreachable hosts. Idle connections stay for ten minutes: a new one has no plans and a cold
 * cache, so that its first large group takes half as long again.
 */
const CONNECTION = {
  connectionTimeoutMillis: 5000,
  idleTimeoutMillis: 600_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};

/** For transactions that PostgreSQL aborts in favour of another. */
const MAX_ATTEMPTS = 4;
const MAX_RETRY_DELAY_MS = 50;

function limitsOf({ limits }: PersistenceOptions) {
  if (!limits) return {};
  return {
    statement_timeout: limits.statementSeconds * 1000,
    lock_timeout: limits.lockSeconds * 1000,
    idle_in_transaction_session_timeout: limits.idleSeconds * 1000,
  };
}

function openGenericPlanPool(options: PersistenceOptions): Pool {
  const { url, poolSize, applicationName } = options;
  const onError = connectionErrorHandler(options);
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    application_name: applicationName,
    ...CONNECTION,
    ...limitsOf(options),
    onConnect: async (client) => {
      await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off');
    },
  });
  pool.on('error', onError);
  // The pool does not handle errors of a client that is checked out; unhandled, they would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

/** Plain SQL over a pool, with the type parsers of the driver. @param maxAttempts - of transactions that are aborted */
export function createDatabase(pool: Pool, maxAttempts = 1): Database {
  return {
    query: (text, values, name) => run(pool, text, values, name),
    connect: () => pool.connect(),
    transaction: (work) => inChildSpan('database transaction', () => transact(pool, maxAttempts, work)),
  };
}

async function transact<T>(pool: Pool, maxAttempts: number, work: (tx: Sql) => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await runTransaction(pool, work);
    } catch (error) {
      if (attempts >= maxAttempts || !isSerializationFailure(error)) throw error;
      await delay(Math.random() * MAX_RETRY_DELAY_MS * attempts);
    }
  }
}

async function runTransaction<T>(pool: Pool, work: (tx: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work({ query: (text, values, name) => run(client, text, values, name) });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function run<R extends QueryResultRow>(
  on: Pool | PoolClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<R[]> {
  const result = await on.query<R>({
    text,
    values: values as unknown[],
    types: NATIVE_TYPES,
    ...(name ? { name } : {}),
  });
  return result.rows;
}

// Unlike in Database, timestamps and bigints are text here: Kysely uses the ORM's parsers.
function within(em: EntityManager): Sql {
  return {
    async query<R extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const result = await em.getKysely().executeQuery(CompiledQuery.raw(text, values as unknown[]));
      return result.rows as unknown as R[];
    },
  };
}

const LOCK_POLL_MS = 250;

/**
 * Migrates the schema, each migration in its own transaction. Idempotent; concurrent processes wait for each other.
 * Uses a session lock, because an open transaction would block `create index concurrently`.
 */
export async function migrate(persistence: Persistence): Promise<void> {
  const session = await persistence.db.connect();
  let broken: Error | undefined;
  try {
    await waitForMigrationLock(session);
    await persistence.orm.migrator.up();
    await session.query('select pg_advisory_unlock($1)', [SESSION_LOCKS.migration]);
  } catch (error) {
    // Closing the session releases the lock.
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    session.release(broken);
  }
}

/** Polls, because a statement that waits for the lock would block `create index concurrently`. */
async function waitForMigrationLock(session: PoolClient): Promise<void> {
  for (;;) {
    const { rows } = await session.query('select pg_try_advisory_lock($1) as locked', [SESSION_LOCKS.migration]);
    if (rows[0].locked) return;
    await delay(LOCK_POLL_MS);
  }
}

const CONNECT_RETRY_MS = 500;

/** Opens the database once its server accepts connections. @throws the error of the last attempt after `timeoutMs` */
export async function connectWithRetry(
  options: Parameters<typeof openPersistence>[0],
  logger: Logger,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<Persistence> {
  const deadline = Date.now() + timeoutMs;
  for (let retries = 0; ; retries += 1) {
    try {
      return await openPersistence(options);
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      if (retries === 0) logger.warn({ err: error }, 'the database does not answer, trying again');
      await delay(CONNECT_RETRY_MS);
    }
  }
}
