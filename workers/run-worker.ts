import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../src/process/config.ts';
import type { Logger } from '../src/process/logger.ts';
import { serverOptions } from '../temporal/connection.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { DEPLOYMENT_NAME } from '../temporal/deployment.ts';
import { TASK_QUEUES, type TaskQueue } from '../workflows/contracts/task-queues.ts';
import { throttledErrorLog } from './throttled-error-log.ts';
import { EndedSpans } from './ended-spans.ts';
import { stepInterceptors, traceSinks } from './interceptors.ts';
import type { WorkerMetrics } from './metrics.ts';

export interface WorkerSettings {
  config: Config;
  queue: TaskQueue;
  /** Compiled workflow code. */
  code: string;
  /** Names the code of this worker; workflows go to workers of the current build only. */
  buildId: string;
  activities: object;
  logger: Logger;
  measures: Pick<WorkerMetrics, 'step'>;
  /** Called whenever the worker polls, again after every loss of the server; when it fails, the worker starts over. */
  onPolling: () => Promise<void>;
}

export interface RunningWorker {
  readonly queue: TaskQueue;
  /** Whether it asks the server for tasks; says nothing about whether its build is the current one, or the server away. */
  isPolling(): boolean;
  /** Takes no new tasks, lets running ones end, and then resolves. */
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2_000;
/** Waiting workflows need not be cached; a miss costs one history read and a short replay. */
const CACHED_WORKFLOWS = {
  [TASK_QUEUES.activity]: 1_500,
  [TASK_QUEUES.schedule]: 100,
  [TASK_QUEUES.report]: 50,
} as const;
/** Schedules start many workflows at one moment; their steps are local activities, which hold a task while they run. */
const TASKS_AT_ONCE = {
  [TASK_QUEUES.activity]: 100,
  [TASK_QUEUES.schedule]: 20,
  [TASK_QUEUES.report]: 5,
} as const;
/** Each holds a connection and as much of a core as it gets; the others wait their turn. */
const REPORTS_AT_ONCE = 2;
/** Connections of the pool that the relay and its listener use. */
const RESERVED_CONNECTIONS = 4;
/** Steps of lanes that have begun or wait for their turn. */
const LOCAL_STEPS = 200;
/** All of the embedded stack ends within 15 s; elsewhere running steps get the time they may take. */
const SHUTDOWN = {
  embedded: { shutdownGraceTime: '5s', shutdownForceTime: '8s' },
  separate: { shutdownGraceTime: '20s', shutdownForceTime: '60s' },
} as const;

/** Steps of workflows that may use the database at once. */
export function stepsAtOnce(poolSize: number): number {
  return Math.max(1, poolSize - RESERVED_CONNECTIONS);
}

/**
 * Keeps one worker polling: connects, runs, and begins again when the server went away or is not there yet.
 * @remarks Starts without a server. A worker whose poll fails for good (namespace gone, server replaced) is made anew.
 */
export function superviseWorker(settings: WorkerSettings): RunningWorker {
  const { logger, queue } = settings;
  const stopping = new AbortController();
  let worker: Worker | null = null;
  let isPolling = false;
  const spans = new EndedSpans();
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
      await runPolling(worker, onPolling);
    } finally {
      isPolling = false;
      worker = null;
      spans.flush();
      await connection.close();
    }
  };
  const keep = async (): Promise<void> => {
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
  const kept = keep();
  return {
    queue,
    isPolling: () => isPolling,
    async stop() {
      stopping.abort();
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      await kept;
    },
  };
}

/** @throws what polling or `onPolling` failed with */
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
  spans: EndedSpans,
): WorkerOptions {
  const steps = stepsAtOnce(config.databasePoolSize);
  return {
    namespace: config.temporalNamespace,
    taskQueue: queue,
    workflowBundle: { code },
    activities,
    interceptors: { activity: [stepInterceptors(measures)] },
    sinks: traceSinks(spans),
    // Waiting workflows outlive many deploys: they go on with the newest code, guarded by patches and replay tests.
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName: DEPLOYMENT_NAME, buildId },
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
    dataConverter: createDataConverter(config.encryptionKeys),
    maxCachedWorkflows: CACHED_WORKFLOWS[queue],
    maxConcurrentWorkflowTaskExecutions: TASKS_AT_ONCE[queue],
    // More than run at once: those that wait take turns by account, which a queue of the SDK would not.
    maxConcurrentLocalActivityExecutions: queue === TASK_QUEUES.activity ? LOCAL_STEPS : steps,
    maxConcurrentActivityTaskExecutions: queue === TASK_QUEUES.report ? Math.min(steps, REPORTS_AT_ONCE) : steps,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 10 },
    // After the loss of a worker its cached workflows wait this long for another.
    stickyQueueScheduleToStartTimeout: '5s',
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 1, maximum: 5 },
    ...(config.embedded ? SHUTDOWN.embedded : SHUTDOWN.separate),
  };
}
