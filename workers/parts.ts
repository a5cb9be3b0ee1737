import type { Client } from '@temporalio/client';
import type { Registry } from 'prom-client';
import type { Database } from '../src/persistence/database/sql.ts';
import type { Config } from '../src/process/config.ts';
import type { Logger } from '../src/process/logger.ts';
import { systemClock } from '../src/services/common/ports.ts';
import { createEngine } from '../src/services/engine/engine.ts';
import type { WorkerMetrics } from './metrics.ts';
import { createProfileKinds } from './profile-kinds.ts';

interface PartsOptions {
  config: Config;
  logger: Logger;
  db: Database;
  client: Client;
  registry: Registry;
  measures: WorkerMetrics;
  buildId: string;
}

/** What the Temporal activities and the loops of a worker share. */
export type Parts = ReturnType<typeof createParts>;

export function createParts(options: PartsOptions) {
  const { config, logger, db, measures } = options;
  const { publicUrl, activities: settings, scriptProfiles: limits } = config;
  const onProcessed = (events: number, closed: boolean): void => {
    measures.eventsProcessed(events);
    if (closed) measures.batchClosed();
  };
  return {
    ...options,
    publicUrl,
    stuck: measures.stuck,
    clock: systemClock,
    engine: createEngine({ db, clock: systemClock, settings, onProcessed }),
    kinds: createProfileKinds({ db, settings, limits, publicUrl, logger }),
  };
}
