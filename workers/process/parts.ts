import type { Client } from '@temporalio/client';
import type { Registry } from 'prom-client';
import type { Database } from '../../src/persistence/database/sql.ts';
import type { Config } from '../../src/process/config.ts';
import type { Logger } from '../../src/process/logger.ts';
import { createDatabaseFileStore } from '../../src/services/common/files.ts';
import { systemClock } from '../../src/services/common/ports.ts';
import { createUsgKind } from '../../src/services/compliance/profiles/usg-runs.ts';
import { createEngine } from '../../src/services/engine/engine.ts';
import type { ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { createScriptKind } from '../../src/services/scripts/profiles/script-kind.ts';
import { ReportNotifications } from '../dispatcher/report-notifications.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';

export type Parts = ReturnType<typeof createParts>;

/** What the parts of a worker process share; starts nothing. */
export function createParts(options: {
  config: Config;
  logger: Logger;
  db: Database;
  genericPlanDb: Database;
  client: Client;
  registry: Registry;
  measures: WorkerMetrics;
  buildId: string;
}) {
  const { config, logger, db, genericPlanDb, measures } = options;
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
    reports: new ReportNotifications(),
    engine: createEngine({ db, genericPlanDb, clock: systemClock, settings, onProcessed }),
    kinds: createProfileKinds({ db, settings, limits, publicUrl, logger }),
  };
}

/** The kinds of profiles that schedules start. {@link ProfileKind} lists what a new one needs. */
export function createProfileKinds(deps: {
  db: Database;
  settings: Config['activities'];
  limits: Config['scriptProfiles'];
  publicUrl: string;
  logger: Logger;
}): ProfileKinds {
  const files = createDatabaseFileStore(deps.db);
  const kinds: ProfileKind[] = [createUsgKind({ ...deps, files }), createScriptKind(deps)];
  return new Map(kinds.map((kind) => [kind.name, kind]));
}
