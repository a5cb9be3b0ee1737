import { setTimeout as delay } from 'node:timers/promises';
import { openPersistence, type Persistence } from '../../src/persistence/orm/orm.ts';
import type { Config } from '../../src/process/config.ts';
import type { Logger } from '../../src/process/logger.ts';

const PAUSE_MS = 500;

/** Opens the database without connecting. */
export function openWorkerDatabase(config: Config, logger: Logger): Promise<Persistence> {
  const { databaseLimits: limits } = config;
  return openPersistence({
    url: config.databaseUrl!,
    poolSize: config.databasePoolSize,
    // Report queries and retention handle more rows at a time than any request.
    limits: { ...limits, statementSeconds: limits.statementSeconds * 10 },
    applicationName: 'flotilla-worker',
    onError: (error) => logger.warn({ err: error }, 'database connection'),
    lazy: true,
  });
}

/** Waits for the database, and for a schema on which this code works, however long that takes. */
export async function waitForMigrations({ orm }: Persistence, logger: Logger): Promise<void> {
  let last: number | null = 0;
  for (; ; await delay(PAUSE_MS)) {
    const pending = await orm.migrator.getPending().catch((error: unknown) => {
      if (last !== null) logger.warn({ err: error }, 'the database does not respond; trying again');
      return null;
    });
    if (pending?.length === 0) return;
    if (pending && pending.length !== last) {
      logger.warn({ pending: pending.length }, 'waiting for the schema: run npm run migrate');
    }
    last = pending?.length ?? null;
  }
}
