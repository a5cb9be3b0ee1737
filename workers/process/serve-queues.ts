import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Config } from '../../src/process/config.ts';
import { notifyReady } from '../../src/process/lifecycle.ts';
import type { Logger } from '../../src/process/logger.ts';
import { createDatabaseFileStore } from '../../src/services/common/files.ts';
import { makeBuildCurrent, waitForCurrentBuild } from '../../temporal/client/deployment.ts';
import { TASK_QUEUES, type TaskQueue } from '../../workflows/contracts/task-queues.ts';
import { createEngineActivities } from '../activities/engine.activities.ts';
import { createHashIdDatabaseActivities } from '../activities/hash-id-database.activities.ts';
import { createProfileActivities } from '../activities/profile.activities.ts';
import { createReconciler } from '../activities/reconciler.activities.ts';
import { createReportActivities, createReportCloseActivities } from '../activities/report.activities.ts';
import { createRetentionActivities } from '../activities/retention.activities.ts';
import { createWebhookActivities } from '../activities/webhook.activities.ts';
import type { Parts } from './parts.ts';
import { activityConcurrency, type RunningWorker, superviseWorker } from './run-worker.ts';
import { buildBundle, findBundle, type WorkflowBundle } from './workflow-bundle.ts';

const BUILD_LIMIT_MS = 20_000;
/** The start of the embedded stack is making the build current, for at most that long. */
const EARLY_CURRENT_LIMIT_MS = 2_000;
/** On a new embedded stack the first action comes before schedules and reports matter. */
const FURTHER_QUEUES_AFTER_MS = 2_000;

/** The workflow bundle of this code. In production it must exist; elsewhere it is built on demand. */
export async function currentBundle(isProduction: boolean, logger: Logger): Promise<WorkflowBundle> {
  const found = findBundle();
  if (found) return found;
  if (isProduction) {
    throw new Error('the workflow bundle is missing or not current: run npm run build:workflows before the start');
  }
  logger.info('building the workflow bundle');
  return await buildBundle();
}

/**
 * Starts a worker for each queue; announces readiness once a build that gets work polls all of them. In the embedded
 * stack the first one suffices and the others follow later: each takes half a second of processor time to load.
 */
export async function serveQueues(
  queues: readonly TaskQueue[],
  { codePath, buildId }: WorkflowBundle,
  parts: Parts,
): Promise<RunningWorker[]> {
  const { config, logger, measures } = parts;
  const code = await readFile(codePath, 'utf8');
  const waiting = new Set<TaskQueue>(config.embedded ? queues.slice(0, 1) : queues);
  const ready = Promise.withResolvers<void>();
  let settingCurrent: Promise<void> | null = null;
  // Concurrent calls for one deployment conflict in the server, and are retried for seconds.
  const setCurrent = () => {
    settingCurrent ??= setCurrentIfAllowed(config, buildId, logger).finally(() => {
      settingCurrent = null;
    });
    return settingCurrent;
  };
  return queues.map((queue) => {
    const onPolling = async (): Promise<void> => {
      await setCurrent();
      logger.info({ queue }, 'polling');
      if (!waiting.delete(queue) || waiting.size > 0) return;
      notifyReady();
      ready.resolve();
    };
    const activities = createActivities(queue, parts);
    const startAfter = waiting.has(queue) ? undefined : ready.promise.then(() => delay(FURTHER_QUEUES_AFTER_MS));
    return superviseWorker({ config, queue, code, buildId, activities, logger, startAfter, onPolling, measures });
  });
}

/** Makes this build current: always in the embedded stack, elsewhere only if no build is. Later, deploys do it. */
async function setCurrentIfAllowed(config: Config, buildId: string, logger: Logger): Promise<void> {
  const current = await waitForCurrentBuild(config, buildId, config.embedded ? EARLY_CURRENT_LIMIT_MS : 0);
  if (current === buildId) return;
  if (config.embedded || current === null) await makeBuildCurrent(config, buildId, BUILD_LIMIT_MS);
  else logger.warn({ buildId, current }, 'this build gets no work before the deploy step makes it current');
}

function createActivities(queue: TaskQueue, parts: Parts) {
  const { config, measures, db } = parts;
  const reportParts = { ...parts, files: createDatabaseFileStore(db) };
  const { eventRetentionDays, eventFeedDays, activityRetentionDays, encryptionKeys } = config;
  switch (queue) {
    case TASK_QUEUES.activity:
      return {
        ...createEngineActivities({ ...parts, concurrency: activityConcurrency(config.databasePoolSize) }),
        ...createReportCloseActivities(reportParts),
      };
    case TASK_QUEUES.schedule:
      return {
        ...createReconciler({ ...parts, eventRetentionDays, eventFeedDays, metrics: measures }),
        ...createProfileActivities(parts),
        ...createRetentionActivities({ ...parts, activityRetentionDays }),
        ...createHashIdDatabaseActivities({ ...parts, settings: config.hashIdDatabases }),
        // The others of this queue are local: its slots are free for requests to slow receivers.
        ...createWebhookActivities({ ...parts, encryptionKeys, privateAddresses: config.webhookPrivateAddresses }),
      };
    case TASK_QUEUES.report:
      return createReportActivities(reportParts);
  }
}

/** The client that starts activities on this process's own worker; null without one that polls. */
export function eagerClient(workers: readonly RunningWorker[]): Client | null {
  return workers.find(({ queue }) => queue === TASK_QUEUES.activity)?.client() ?? null;
}

/** What keeps a worker process from being ready. */
export function unpolledQueues(queues: readonly TaskQueue[], workers: readonly RunningWorker[]): string[] {
  const polled = workers.filter((worker) => worker.isPolling()).map((worker) => worker.queue);
  return queues.filter((queue) => !polled.includes(queue)).map((queue) => `the task queue ${queue} is not polled`);
}
