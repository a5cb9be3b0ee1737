import { setTimeout as delay } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { Configuration, MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';
import pRetry from 'p-retry';
import type { Pool } from 'pg';
import type { Logger } from '../../process/logger.ts';
import type { PoolState } from '../../process/metrics.ts';
import { retryEvery } from '../../process/retry.ts';
import { trySessionLock } from '../database/advisory-locks.ts';
import type { Database } from '../database/sql.ts';
import { MigrationGenerator } from './create-migration.ts';
import { createDatabase } from './database.ts';
import { ENTITIES } from './entities.ts';
import { MIGRATIONS } from './migrations/index.ts';
import { PostgresNames } from './naming.ts';
import { openPool, PoolDialect, type PoolOptions, poolState } from './pool.ts';

export interface Persistence {
  orm: MikroORM;
  db: Database;
  /** For statements that find every row by a key: generic plans, made once per connection, always use indexes. */
  genericPlanDb: Database;
  pools(): PoolState[];
  close(): Promise<void>;
}

interface PersistenceOptions extends PoolOptions {
  /** Succeeds without a server; statements fail until it is available. */
  lazy?: boolean;
}

/** Opens the pool without touching the schema. @throws when the server cannot be reached, unless `lazy` */
export async function openPersistence(options: PersistenceOptions): Promise<Persistence> {
  const pool = openPool(options);
  const genericPlanPool = openPool(options, 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off');
  const orm = new MikroORM(ormOptions(options, pool));
  const genericPlanDriver = driverOf(orm, options, genericPlanPool);
  const close = async () => {
    await Promise.all([orm.close(), genericPlanDriver.close()]);
  };
  try {
    await orm.driver.connect({ skipOnConnect: options.lazy === true });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    orm,
    db: createDatabase(pool, orm.em),
    genericPlanDb: createDatabase(genericPlanPool, genericPlanDriver.createEntityManager() as typeof orm.em),
    pools: () => [poolState('main', pool), poolState('keyed', genericPlanPool)],
    close,
  };
}

/** For another pool, with the entities that the ORM has discovered: discovering them takes longer than all the rest. */
function driverOf(orm: MikroORM, options: PersistenceOptions, pool: Pool) {
  const driver = new Configuration({ driver: PostgreSqlDriver, ...ormOptions(options, pool) }).getDriver();
  driver.setMetadata(orm.getMetadata());
  return driver;
}

/** Left to migrations, as are storage parameters and that `invitation_mail` and `login_failure` have no primary key. */
const UNCOMPARED = {
  ignoreTriggers: true,
  ignoreRoutines: true,
  skipViews: ['scoped_script_profile', 'usg_rule_result'],
};

function ormOptions({ url, onError }: PersistenceOptions, pool: Pool) {
  return {
    clientUrl: url,
    entities: ENTITIES,
    namingStrategy: PostgresNames,
    extensions: [Migrator],
    migrations: {
      migrationsList: MIGRATIONS,
      snapshot: false,
      tableName: 'schema_migration',
      generator: MigrationGenerator,
      fileName: (timestamp: string, name?: string) => `migration-${timestamp}-${name}`,
      emit: 'ts' as const,
      silent: true,
      // A transaction for each: locks stay short, and an index can be built without one.
      allOrNothing: false,
    },
    schemaGenerator: UNCOMPARED,
    forceUtcTimezone: true,
    driverOptions: new PoolDialect(pool),
    logger: (message: string) => onError?.(new Error(message)),
    debug: false,
  };
}

const LOCK_POLL_MS = 250;

/** Runs each migration in its own transaction, under a session lock. Idempotent; concurrent processes wait. */
export async function migrate(persistence: Persistence): Promise<void> {
  const session = await persistence.db.connect();
  try {
    // A statement that waits for the lock would block `create index concurrently`.
    while (!(await trySessionLock(session, 'migration'))) await delay(LOCK_POLL_MS);
    await persistence.orm.migrator.up();
  } finally {
    // Closing the session releases the lock.
    session.release(true);
  }
}

const CONNECT_RETRY_MS = 500;

/** Opens the database once its server accepts connections. @throws the error of the last attempt after `timeoutMs` */
export function connectWithRetry(
  options: Parameters<typeof openPersistence>[0],
  logger: Logger,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<Persistence> {
  return pRetry(() => openPersistence(options), {
    ...retryEvery(CONNECT_RETRY_MS, timeoutMs),
    onFailedAttempt({ error, attemptNumber }) {
      if (attemptNumber === 1) logger.warn({ err: error }, 'the database does not respond; trying again');
    },
  });
}
