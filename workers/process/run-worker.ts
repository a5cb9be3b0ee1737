import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../../src/process/config.ts';
import type { Logger } from '../../src/process/logger.ts';
import { createClient, serverOptions } from '../../temporal/client/connection.ts';
import { DEPLOYMENT_NAME } from '../../temporal/client/deployment.ts';
import { createDataConverter } from '../../temporal/encryption/data-converter.ts';
import { ACTIVITY_ONLY_QUEUE, TASK_QUEUES, type TaskQueue } from '../../workflows/contracts/task-queues.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';
import { throttledErrorLog } from '../telemetry/throttled-error-log.ts';
import { WorkflowSpans } from '../telemetry/workflow-spans.ts';
import { stepInterceptors, traceInterceptors } from './interceptors.ts';

interface WorkerSettings {
  config: Config;
  queue: TaskQueue;
  code: string;
  buildId: string;
  activities: object;
  logger: Logger;
  measures: Pick<WorkerMetrics, 'activityEnded'>;
  /** When to connect; at once if not given. */
  startAfter?: Promise<unknown>;
  /** Called whenever polling starts, also after a reconnect; when it fails, the worker restarts. */
  onPolling: () => Promise<void>;
}

export type RunningWorker = ReturnType<typeof superviseWorker>;

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2_000;
/** Waiting workflows need not be cached; a miss costs one history read and a short replay. */
const CACHED_WORKFLOWS = { 'fleet-activity': 1_500, 'fleet-schedule': 100, 'fleet-report': 50 } as const;
/** Schedules start many workflows at once; their activities are local and hold a task while they run. */
const CONCURRENT_TASKS = { 'fleet-activity': 100, 'fleet-schedule': 20, 'fleet-report': 5 } as const;
/** Fixed: numbers that adapt cost the SDK 0.25 % of a core while nothing happens. */
const POLLERS = {
  'fleet-activity': { workflows: 4, activities: 2 },
  'fleet-schedule': { workflows: 2, activities: 1 },
  'fleet-report': { workflows: 2, activities: 1 },
} as const;
const CONCURRENT_REPORTS = 2;
const RESERVED_CONNECTIONS = 4;
const LOCAL_ACTIVITIES = 200;
/** The embedded stack stops within 15 s; elsewhere running activities get their full timeout. */
const SHUTDOWN = {
  embedded: { shutdownGraceTime: '5s', shutdownForceTime: '8s' },
  separate: { shutdownGraceTime: '20s', shutdownForceTime: '60s' },
} as const;

/** How many activities may use the database at once. */
export function activityConcurrency(poolSize: number): number {
  return Math.max(1, poolSize - RESERVED_CONNECTIONS);
}

/** Keeps one worker polling: connects, runs, and starts over when the server is lost or not available yet. */
export function superviseWorker(settings: WorkerSettings) {
  const { logger, queue } = settings;
  const stopping = new AbortController();
  let worker: Worker | null = null;
  let client: Client | null = null;
  let isPolling = false;
  const spans = new WorkflowSpans();
  const onPolling = async (): Promise<void> => {
    await settings.onPolling();
    isPolling = true;
  };
  const runOnce = async (): Promise<void> => {
    const connection = await NativeConnection.connect(serverOptions(settings.config));
    try {
      await connection.workflowService.describeNamespace({ namespace: settings.config.temporalNamespace });
      worker = await Worker.create({ connection, ...workerOptions(settings, spans) });
      if (stopping.signal.aborted) return;
      client = createClient(settings.config, connection);
      await runPolling(worker, onPolling);
    } finally {
      isPolling = false;
      worker = null;
      client = null;
      spans.flush();
      await connection.close();
    }
  };
  const supervise = async (): Promise<void> => {
    await Promise.race([settings.startAfter, once(stopping.signal, 'abort')]);
    let pauseMs = FIRST_PAUSE_MS;
    const logError = throttledErrorLog(logger, { worker: queue });
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      try {
        await runOnce();
        logError(null);
      } catch (error) {
        logError(error);
      }
      pauseMs = Date.now() - startedAt > LAST_PAUSE_MS * 5 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LAST_PAUSE_MS);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const supervised = supervise();
  return {
    queue,
    isPolling: (): boolean => isPolling,
    /** The client whose workflows this worker can start eagerly; null while it does not poll. */
    client: (): Client | null => (isPolling ? client : null),
    async stop(): Promise<void> {
      stopping.abort();
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      await supervised;
    },
  };
}

async function runPolling(worker: Worker, onPolling: () => Promise<void>): Promise<void> {
  let failure: unknown = null;
  const running = worker.run();
  onPolling().catch((error: unknown) => {
    failure = error;
    if (worker.getState() === 'RUNNING') worker.shutdown();
  });
  await running;
  if (failure) throw failure;
}

function workerOptions(
  { config, queue, code, buildId, activities, measures }: WorkerSettings,
  spans: WorkflowSpans,
): WorkerOptions {
  const concurrency = activityConcurrency(config.databasePoolSize);
  return {
    namespace: config.temporalNamespace,
    taskQueue: queue,
    // Workflows take a thread with a heap of its own.
    ...(queue === ACTIVITY_ONLY_QUEUE ? {} : { workflowBundle: { code } }),
    activities,
    interceptors: { activity: [stepInterceptors(measures), traceInterceptors] },
    sinks: spans.sinks(),
    // Waiting workflows outlive many deploys: they continue on the newest code, guarded by patches and replay tests.
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName: DEPLOYMENT_NAME, buildId },
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
    dataConverter: createDataConverter(config.encryptionKeys),
    maxCachedWorkflows: CACHED_WORKFLOWS[queue],
    maxConcurrentWorkflowTaskExecutions: CONCURRENT_TASKS[queue],
    // More than run at once: waiting activities take turns by account, unlike in a queue of the SDK.
    maxConcurrentLocalActivityExecutions: queue === TASK_QUEUES.activity ? LOCAL_ACTIVITIES : concurrency,
    maxConcurrentActivityTaskExecutions:
      queue === TASK_QUEUES.report ? Math.min(concurrency, CONCURRENT_REPORTS) : concurrency,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: POLLERS[queue].workflows },
    // After a worker is lost, its cached workflows wait this long before another takes over.
    stickyQueueScheduleToStartTimeout: '5s',
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: POLLERS[queue].activities },
    ...(config.embedded ? SHUTDOWN.embedded : SHUTDOWN.separate),
  };
}
