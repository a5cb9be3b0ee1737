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
import { isLostRace } from '../database/availability.ts';
import { NATIVE_TYPES } from '../database/native-types.ts';
import type { Database, Sql } from '../database/sql.ts';
import * as entities from './entities.ts';
import { MIGRATIONS } from './migrations/index.ts';

/** The database of one process: MikroORM for entities that are written, plain SQL for sets and lists, one pool for both. */
export interface Persistence {
  orm: MikroORM;
  db: Database;
  /**
   * A pool of its own, of the same size and with no connection before the first use, for statements that find every
   * row by a key. They are planned once per connection, whatever their parameters, and through indexes however small
   * and new the tables seem: planning some of them costs several times their execution, and a plan made for an empty
   * table would read all of it when it has grown.
   */
  keyed: Database;
  /** Plain SQL in the transaction that `em` is in. */
  within(em: EntityManager): Sql;
  /** How the connections of both pools stand now. */
  pools(): PoolState[];
  close(): Promise<void>;
}

export interface PersistenceOptions {
  url: string;
  poolSize: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  onError?: (error: Error) => void;
  /** Limits that the server holds for each statement and transaction; absent for none, as migrations need it. */
  limits?: DatabaseLimits;
  /** Succeeds without a server; what needs one fails until it is there. */
  lazy?: boolean;
}

/**
 * Opens the pool without touching the schema.
 *
 * @throws when the server cannot be reached, unless `lazy`
 */
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
      // Each in a transaction of its own: short locks, and an index can be built without any.
      allOrNothing: false,
    },
    forceUtcTimezone: true,
    pool: { min: 0, max: options.poolSize },
    driverOptions: {
      // The driver reads the URL itself: sslmode and its certificates are told there.
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
  pool.on('error', lostConnections(options));
  const keyed = openKeyedPool(options);
  const close = async () => {
    await Promise.all([orm.close(), keyed.end()]);
  };
  const pools = () => [poolState('main', pool), poolState('keyed', keyed)];
  return { orm, db: createDatabase(pool, TRIES), keyed: createDatabase(keyed), within, pools, close };
}

/** A connection is nobody's: lines about its loss say nothing of the request or exchange that it was opened for. */
function lostConnections({ onError }: PersistenceOptions): (error: Error) => void {
  const outside = AsyncLocalStorage.snapshot();
  return (error) => outside(() => onError?.(error));
}

function poolState(name: string, { totalCount, idleCount, waitingCount, options: { max } }: Pool): PoolState {
  return { name, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max: max ?? totalCount };
}

/**
 * Of every connection. A host that vanished without a word is noticed by the probes of TCP. An idle one stays for ten
 * minutes: a new one plans everything again, and meets every page of the server's memory for the first time, with which
 * its first large group takes half as long again.
 */
const CONNECTION = {
  connectionTimeoutMillis: 5000,
  idleTimeoutMillis: 600_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};

/** How often a transaction is begun that loses against others. */
const TRIES = 4;
const LONGEST_PAUSE_MS = 50;

function limitsOf({ limits }: PersistenceOptions) {
  if (!limits) return {};
  return {
    statement_timeout: limits.statementSeconds * 1000,
    lock_timeout: limits.lockSeconds * 1000,
    idle_in_transaction_session_timeout: limits.idleSeconds * 1000,
  };
}

function openKeyedPool(options: PersistenceOptions): Pool {
  const { url, poolSize, applicationName } = options;
  const onError = lostConnections(options);
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
  // The pool does not listen to a client while it is lent out, and an error that nobody hears ends the process.
  pool.on('connect', (client) => client.on('error', onError));
  return pool;
}

/**
 * Plain SQL over a pool, with the driver's own type parsers.
 *
 * @param tries - how often a transaction is begun when PostgreSQL ends it in favour of another; what it does beside its
 * statements is then done again
 */
export function createDatabase(pool: Pool, tries = 1): Database {
  return {
    query: (text, values, name) => run(pool, text, values, name),
    connect: () => pool.connect(),
    transaction: (work) => inChildSpan('database transaction', () => transact(pool, tries, work)),
  };
}

async function transact<T>(pool: Pool, tries: number, work: (tx: Sql) => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(pool, work);
    } catch (error) {
      if (count >= tries || !isLostRace(error)) throw error;
      await delay(Math.random() * LONGEST_PAUSE_MS * count);
    }
  }
}

async function attempt<T>(pool: Pool, work: (tx: Sql) => Promise<T>): Promise<T> {
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

// Kysely hands over what the ORM's parsers leave: timestamps and bigints as text here, unlike in Database.
function within(em: EntityManager): Sql {
  return {
    async query<R extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const result = await em.getKysely().executeQuery(CompiledQuery.raw(text, values as unknown[]));
      return result.rows as unknown as R[];
    },
  };
}

const MIGRATION_PAUSE_MS = 250;

/**
 * Brings the schema up to date, each migration in a transaction of its own.
 *
 * @remarks Safe to run again and from several processes at once: one migrates, the others wait. The lock is the
 * session's, because a transaction kept open would hold up an index that is built beside writers.
 */
export async function migrate(persistence: Persistence): Promise<void> {
  const session = await persistence.db.connect();
  let broken: Error | undefined;
  try {
    await takeTurn(session);
    await persistence.orm.migrator.up();
    await session.query('select pg_advisory_unlock($1)', [SESSION_LOCKS.migration]);
  } catch (error) {
    // Closing the session gives the lock back.
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    session.release(broken);
  }
}

/** Asks again and again: a statement that waits for the lock is one that an index built beside writers waits for. */
async function takeTurn(session: PoolClient): Promise<void> {
  for (;;) {
    const { rows } = await session.query('select pg_try_advisory_lock($1) as mine', [SESSION_LOCKS.migration]);
    if (rows[0].mine) return;
    await delay(MIGRATION_PAUSE_MS);
  }
}
