import { loadConfig } from '../src/process/config.ts';
import { exitWithError, shutDownOnSignal, untilNeeded } from '../src/process/lifecycle.ts';
import { createLogger } from '../src/process/logger.ts';
import { startMetrics } from '../src/process/metrics.ts';
import { startTracing } from '../src/process/tracing.ts';
import { connectClient } from '../temporal/client/connection.ts';
import { findOutage } from '../temporal/client/health.ts';
import { TASK_QUEUES } from '../workflows/contracts/task-queues.ts';
import { startBackground } from './process/background.ts';
import { openWorkerDatabase, waitForMigrations } from './process/database.ts';
import { createWorkerMetrics } from './telemetry/metrics.ts';
import { createParts } from './process/parts.ts';
import { chooseQueues } from './process/queues.ts';
import type { RunningWorker } from './process/run-worker.ts';
import { currentBundle, eagerClient, serveQueues, unpolledQueues } from './process/serve-queues.ts';
import { installRuntime } from './telemetry/telemetry.ts';

const STOP_LIMIT_MS = { embedded: 9_500, separate: 70_000 };

/** `npm run worker -- --queues a,b`: serves task queues, all by default; the activity queue includes a dispatcher. */
async function main(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<void> {
  const queues = chooseQueues(args);
  const config = loadConfig(env, 'process');
  const logger = createLogger({ level: config.logLevel, role: 'worker' });
  const persistence = await openWorkerDatabase(config, logger);
  await untilNeeded(config);

  const bundle = await currentBundle(env['NODE_ENV'] === 'production', logger);
  const tracing = await startTracing('worker', logger, env);
  const { metricsUrl } = await installRuntime(logger);
  const temporal = await connectClient(config);
  const workers: RunningWorker[] = [];
  const readinessFailures = async () => [
    ...unpolledQueues(queues, workers),
    ...(await findOutage(temporal.client, config.temporalNamespace)),
  ];
  const metrics = await startMetrics({ config, logger, upstream: metricsUrl, serves: queues, readinessFailures });
  const { registry } = metrics;
  const measures = createWorkerMetrics(registry);
  metrics.registerPools(persistence.pools);
  await waitForMigrations(persistence, logger);
  const [{ db, genericPlanDb }, { client }, { buildId }] = [persistence, temporal, bundle];
  const parts = createParts({ config, logger, db, genericPlanDb, client, registry, measures, buildId });

  workers.push(...(await serveQueues(queues, bundle, parts)));
  const background = queues.includes(TASK_QUEUES.activity) ? startBackground(parts, () => eagerClient(workers)) : null;

  const stop = async (): Promise<void> => {
    await background?.stop();
    await Promise.all(workers.map((worker) => worker.stop()));
    await temporal.close();
    await persistence.close();
    await metrics.close();
    await tracing.close();
  };
  shutDownOnSignal(logger, stop, STOP_LIMIT_MS[config.embedded ? 'embedded' : 'separate']);
}

main(process.env, process.argv.slice(2)).catch(exitWithError);
