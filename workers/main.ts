import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { connectWithRetry } from '../src/persistence/orm/orm.ts';
import type { Persistence } from '../src/persistence/orm/orm.ts';
import { type Config, loadConfig } from '../src/process/config.ts';
import { notifyReady, exitWithError, shutDownOnSignal } from '../src/process/lifecycle.ts';
import { createLogger, type Logger } from '../src/process/logger.ts';
import { startMetrics } from '../src/process/metrics.ts';
import { startTracing } from '../src/process/tracing.ts';
import { createDatabaseFileStore } from '../src/services/common/files.ts';
import { systemClock } from '../src/services/common/ports.ts';
import { createEngine } from '../src/services/engine/engine.ts';
import { connectClient } from '../temporal/connection.ts';
import { makeBuildCurrent, readCurrentBuild } from '../temporal/deployment.ts';
import { findOutage } from '../temporal/health.ts';
import { TASK_QUEUES, type TaskQueue } from '../workflows/contracts/task-queues.ts';
import { createRetentionActivities } from './activities/activity-retention.activities.ts';
import { createAuditRetentionActivities } from './activities/audit-retention.activities.ts';
import { createEngineActivities } from './activities/engine.activities.ts';
import { createProfileActivities } from './activities/profile.activities.ts';
import { createReportActivities } from './activities/report.activities.ts';
import { startAuditReports } from './audit-reports.ts';
import { startFleetGauges } from './fleet-gauges.ts';
import { createWorkerMetrics, type WorkerMetrics } from './metrics.ts';
import { createProfileKinds } from './profile-kinds.ts';
import { chooseQueues } from './queues.ts';
import { createReconciler } from './reconciler/reconciler.ts';
import { type DispatcherOptions, startDispatcher } from './dispatcher/dispatcher.ts';
import { superviseWorker, type RunningWorker, activityConcurrency } from './run-worker.ts';
import { installRuntime } from './telemetry.ts';
import { buildBundle, findBundle, type WorkflowBundle } from './workflow-bundle.ts';

const STOP_LIMIT_MS = { embedded: 9_500, separate: 70_000 };
const RELAY_STOP_LIMIT_MS = 2_000;
const BUILD_LIMIT_MS = 20_000;
const DATABASE_PAUSE_MS = 1_000;

try {
  await run(chooseQueues(process.argv.slice(2)));
} catch (error) {
  exitWithError(error);
}

/** `npm run worker -- --queues a,b`: serves task queues, all by default; the activity queue includes a dispatcher. */
async function run(queues: readonly TaskQueue[]): Promise<void> {
  const config = loadConfig(process.env, 'process');
  const logger = createLogger({ level: config.logLevel, role: 'worker' });
  const bundle = await currentBundle(logger);
  const tracing = await startTracing('worker', logger);
  const { metricsUrl } = await installRuntime(logger);
  const { client, close } = await connectClient(config);
  let workers: readonly RunningWorker[] = [];
  const metrics = await startMetrics({
    config,
    logger,
    upstream: metricsUrl,
    serves: queues,
    readinessFailures: async () => [
      ...unpolled(queues, workers),
      ...(await findOutage(client, config.temporalNamespace)),
    ],
  });
  const measures = createWorkerMetrics(metrics.registry);
  const persistence = await openDatabase(config, logger);
  metrics.registerPools(persistence.pools);
  await waitForMigrations(persistence, logger);
  const onProcessed = (events: number, closed: boolean): void => {
    measures.eventsProcessed(events);
    if (closed) measures.batchClosed();
  };
  const engine = createEngine({ db: persistence.db, clock: systemClock, settings: config.activities, onProcessed });
  const { publicUrl, activities: settings, scriptProfiles: limits } = config;
  const kinds = createProfileKinds({ db: persistence.db, settings, limits, publicUrl, logger });
  const parts: Parts = {
    db: persistence.db,
    client,
    engine,
    publicUrl,
    logger,
    kinds,
    clock: systemClock,
    measures,
    buildId: bundle.buildId,
    stuck: measures.stuck,
  };
  workers = await startWorkers(queues, config, bundle, parts);
  const servesActivities = queues.includes(TASK_QUEUES.activity);
  const repaired: DispatcherOptions['repaired'] = (outcome) => measures.repaired('relay', outcome);
  const relay = servesActivities
    ? startDispatcher({ ...parts, settings, count: measures.dispatcherEvent, repaired })
    : null;
  const gauges =
    relay && startFleetGauges({ db: persistence.db, registry: metrics.registry, logger, isLeader: relay.isLeader });
  const reports = servesActivities ? startAuditReports(parts) : null;
  shutDownOnSignal(
    logger,
    async () => {
      await Promise.race([Promise.all([relay?.stop(), gauges?.stop(), reports?.stop()]), delay(RELAY_STOP_LIMIT_MS)]);
      await Promise.all(workers.map((worker) => worker.stop()));
      await close();
      await persistence.close();
      await metrics.close();
      await tracing.close();
    },
    STOP_LIMIT_MS[config.embedded ? 'embedded' : 'separate'],
  );
}

function unpolled(queues: readonly TaskQueue[], workers: readonly RunningWorker[]): string[] {
  const polled = workers.filter((worker) => worker.isPolling()).map((worker) => worker.queue);
  return queues.filter((queue) => !polled.includes(queue)).map((queue) => `the task queue ${queue} is not polled`);
}

type Parts = Omit<DispatcherOptions, 'settings' | 'count' | 'repaired'> & { measures: WorkerMetrics };

/** Announces readiness once a build that gets work polls every queue. */
async function startWorkers(
  queues: readonly TaskQueue[],
  config: Config,
  bundle: WorkflowBundle,
  parts: Parts,
): Promise<RunningWorker[]> {
  const { logger } = parts;
  const { eventRetentionDays, activityRetentionDays } = config;
  const code = await readFile(bundle.codePath, 'utf8');
  const activities = {
    [TASK_QUEUES.activity]: () =>
      createEngineActivities({ ...parts, concurrency: activityConcurrency(config.databasePoolSize) }),
    [TASK_QUEUES.schedule]: () => ({
      ...createReconciler({ ...parts, eventRetentionDays, metrics: parts.measures }),
      ...createProfileActivities(parts),
      ...createRetentionActivities({ ...parts, activityRetentionDays }),
      ...createAuditRetentionActivities(parts),
    }),
    [TASK_QUEUES.report]: () => createReportActivities({ ...parts, files: createDatabaseFileStore(parts.db) }),
  };
  const waiting = new Set<TaskQueue>(queues);
  return queues.map((queue) => {
    const onPolling = async (): Promise<void> => {
      await makeCurrentIfAllowed(config, bundle.buildId, logger);
      logger.info({ queue }, 'polling');
      if (waiting.delete(queue) && waiting.size === 0) notifyReady();
    };
    const { buildId } = bundle;
    const { measures } = parts;
    return superviseWorker({
      config,
      queue,
      code,
      buildId,
      activities: activities[queue](),
      logger,
      onPolling,
      measures,
    });
  });
}

/** In production the bundle must exist; elsewhere it is built on demand. */
async function currentBundle(logger: Logger): Promise<WorkflowBundle> {
  const found = await findBundle();
  if (found) return found;
  if (process.env['NODE_ENV'] === 'production') {
    throw new Error('the workflow bundle is missing or not current: run npm run build:workflows before the start');
  }
  logger.info('building the workflow bundle');
  return await buildBundle();
}

/** Makes this build current: always in the embedded stack, elsewhere only if no build is. Later, deploys do it. */
async function makeCurrentIfAllowed(config: Config, buildId: string, logger: Logger): Promise<void> {
  const current = await readCurrentBuild(config);
  if (current === buildId) return;
  if (config.embedded || current === null) await makeBuildCurrent(config, buildId, BUILD_LIMIT_MS);
  else logger.warn({ buildId, current }, 'this build gets no work before the deploy step makes it current');
}

function openDatabase(config: Config, logger: Logger): Promise<Persistence> {
  const options = {
    url: config.databaseUrl!,
    poolSize: config.databasePoolSize,
    limits: workerLimits(config),
    applicationName: 'flotilla-worker',
    onError: (error: Error) => logger.warn({ err: error }, 'database connection'),
  };
  return connectWithRetry(options, logger);
}

/** New code on an old schema would fail every activity; the migration may still be running. */
async function waitForMigrations(persistence: Persistence, logger: Logger): Promise<void> {
  for (let last = 0; ; await delay(DATABASE_PAUSE_MS)) {
    const pending = await persistence.orm.migrator.getPending().catch(() => null);
    if (pending?.length === 0) return;
    const count = pending?.length ?? 0;
    if (count !== last) logger.warn({ pending: count }, 'waiting for the schema: run npm run migrate');
    last = count;
  }
}

/** Report queries and retention handle more rows at a time than any request. */
function workerLimits({ databaseLimits: limits }: Config): Config['databaseLimits'] {
  return { ...limits, statementSeconds: limits.statementSeconds * 10 };
}
