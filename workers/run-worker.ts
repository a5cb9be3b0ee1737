import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../src/config.ts';
import type { Logger } from '../src/logger.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { TASK_QUEUES, type TaskQueue } from '../workflows/contracts/task-queues.ts';

export interface WorkerSettings {
  config: Config;
  queue: TaskQueue;
  /** Compiled workflow code. */
  code: string;
  activities: object;
  logger: Logger;
  /** Called whenever the worker starts to poll, again after every loss of the server. */
  onPolling: () => void;
}

export interface RunningWorker {
  /** Takes no new tasks, lets running ones end, and then resolves. */
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2_000;
/** Waiting workflows need not be cached; a miss costs one history read and a short replay. */
const CACHED_WORKFLOWS = { [TASK_QUEUES.activity]: 1_500, [TASK_QUEUES.schedule]: 10 } as const;
/** Connections of the pool that the relay and its listener use. */
const RESERVED_CONNECTIONS = 4;
/** All of the embedded stack ends within 15 s; elsewhere running steps get the time they may take. */
const SHUTDOWN = {
  embedded: { shutdownGraceTime: '5s', shutdownForceTime: '8s' },
  separate: { shutdownGraceTime: '20s', shutdownForceTime: '60s' },
} as const;

/**
 * Keeps one worker polling: connects, runs, and begins again when the server went away or is not there yet.
 *
 * @remarks Starts without a server. A worker whose poll fails for good (namespace gone, server replaced) is made anew.
 */
export function keepWorker(settings: WorkerSettings): RunningWorker {
  const { logger, queue } = settings;
  const stopping = new AbortController();
  let worker: Worker | null = null;
  const runOnce = async (): Promise<void> => {
    const connection = await NativeConnection.connect({ address: settings.config.temporalAddress! });
    try {
      await connection.workflowService.describeNamespace({ namespace: settings.config.temporalNamespace });
      worker = await Worker.create({ connection, ...workerOptions(settings) });
      if (stopping.signal.aborted) return;
      const running = worker.run();
      settings.onPolling();
      await running;
    } finally {
      worker = null;
      await connection.close();
    }
  };
  const keep = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      try {
        await runOnce();
      } catch (error) {
        logger.warn({ queue, err: error }, 'the worker cannot poll, trying again');
      }
      pauseMs = Date.now() - startedAt > LAST_PAUSE_MS * 5 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LAST_PAUSE_MS);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const kept = keep();
  return {
    async stop() {
      stopping.abort();
      if (worker?.getState() === 'RUNNING') worker.shutdown();
      await kept;
    },
  };
}

function workerOptions({ config, queue, code, activities }: WorkerSettings): WorkerOptions {
  const steps = Math.max(1, config.databasePoolSize - RESERVED_CONNECTIONS);
  return {
    namespace: config.temporalNamespace,
    taskQueue: queue,
    workflowBundle: { code },
    activities,
    dataConverter: createDataConverter(config.encryptionKeys),
    maxCachedWorkflows: CACHED_WORKFLOWS[queue],
    maxConcurrentWorkflowTaskExecutions: queue === TASK_QUEUES.activity ? 100 : 5,
    maxConcurrentLocalActivityExecutions: steps,
    maxConcurrentActivityTaskExecutions: steps,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 2, maximum: 10 },
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 1, maximum: 5 },
    ...(config.embedded ? SHUTDOWN.embedded : SHUTDOWN.separate),
  };
}
