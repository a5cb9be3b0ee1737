import { setTimeout as delay } from 'node:timers/promises';
import { connectWithRetry, type Persistence } from '../../src/persistence/orm/orm.ts';
import type { Config } from '../../src/process/config.ts';
import type { Logger } from '../../src/process/logger.ts';

const PAUSE_MS = 1_000;

/** Connects to the database, however long that takes. */
export function openWorkerDatabase(config: Config, logger: Logger): Promise<Persistence> {
  const { databaseLimits: limits } = config;
  const options = {
    url: config.databaseUrl!,
    poolSize: config.databasePoolSize,
    // Report queries and retention handle more rows at a time than any request.
    limits: { ...limits, statementSeconds: limits.statementSeconds * 10 },
    applicationName: 'flotilla-worker',
    onError: (error: Error) => logger.warn({ err: error }, 'database connection'),
  };
  return connectWithRetry(options, logger);
}

/** New code on an old schema would fail every activity; the migration may still be running. */
export async function waitForMigrations(persistence: Persistence, logger: Logger): Promise<void> {
  for (let last = 0; ; await delay(PAUSE_MS)) {
    const pending = await persistence.orm.migrator.getPending().catch(() => null);
    if (pending?.length === 0) return;
    const count = pending?.length ?? 0;
    if (count !== last) logger.warn({ pending: count }, 'waiting for the schema: run npm run migrate');
    last = count;
  }
}
