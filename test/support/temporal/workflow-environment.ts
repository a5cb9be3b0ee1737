import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  type Client,
  type ScheduleHandle,
  ScheduleNotFoundError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createDataConverter } from '../../../temporal/encryption/data-converter.ts';
import { buildBundle } from '../../../workers/process/workflow-bundle.ts';
import { WAKE_UP_SIGNAL } from '../../../workflows/contracts/activity.contract.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import type { ActivityRuntime } from '../activities/activity-runtime.ts';
import { TEST_KEYS } from '../http/app.ts';

export { TEST_KEYS };

export const TEST_DATA_CONVERTER = createDataConverter(TEST_KEYS);

let installed = false;

/** Today's workflow code, bundled once per state of the sources. */
export async function workflowCode(): Promise<string> {
  return await readFile((await buildBundle()).codePath, 'utf8');
}

/** Today's workflow code, for which histories are long from `events` on, whatever the server suggests. */
export async function workflowCodeContinuingAfter(events: number): Promise<string> {
  const code = await workflowCode();
  const changed = code.replaceAll('.continueAsNewSuggested', `.historyLength >= ${events}`);
  if (changed === code) throw new Error('no workflow continues as new');
  return changed;
}

/** Only what goes wrong is shown. */
export function quietRuntime(): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'error', forward: {} } },
  });
}

export interface WorkerSetup {
  connection: NativeConnection;
  /** `default` by default. */
  namespace?: string | undefined;
  activities: object;
  /** Workflow code; today's by default. */
  code?: string;
}

async function createWorker({ connection, namespace, activities, code }: WorkerSetup) {
  const taskQueue = `test-${randomBytes(6).toString('hex')}`;
  const worker = await Worker.create({
    connection,
    ...(namespace ? { namespace } : {}),
    taskQueue,
    activities,
    workflowBundle: { code: code ?? (await workflowCode()) },
    dataConverter: TEST_DATA_CONVERTER,
    maxCachedWorkflows: 100,
  });
  return { worker, taskQueue };
}

/** Runs a worker on a task queue of its own while `work` runs. */
export async function withWorker<T>(setup: WorkerSetup, work: (taskQueue: string) => Promise<T>): Promise<T> {
  const { worker, taskQueue } = await createWorker(setup);
  return await worker.runUntil(work(taskQueue));
}

/** Runs a worker of the activities of reports while `work` runs. */
export async function withReportWorker<T>(setup: Omit<WorkerSetup, 'code'>, work: () => Promise<T>): Promise<T> {
  const { connection, namespace, activities } = setup;
  const worker = await Worker.create({
    connection,
    ...(namespace ? { namespace } : {}),
    taskQueue: TASK_QUEUES.report,
    activities,
    dataConverter: TEST_DATA_CONVERTER,
  });
  return await worker.runUntil(work());
}

/** Starts a worker on a task queue of its own; `stop` resolves when it has ended. */
export async function startWorker(setup: WorkerSetup): Promise<{ taskQueue: string; stop: () => Promise<void> }> {
  const { worker, taskQueue } = await createWorker(setup);
  const running = worker.run();
  const stop = async (): Promise<void> => {
    worker.shutdown();
    await running;
  };
  return { taskQueue, stop };
}

/** Number of events by type, and in total. The Temporal server stores each: they are what a workflow costs. */
export async function countEvents(handle: WorkflowHandle): Promise<{ total: number; of: (type: string) => number }> {
  const { events = [] } = await handle.fetchHistory();
  const list = events ?? [];
  return {
    total: list.length,
    of: (type) => list.filter((event) => Object.hasOwn(event, `${type}EventAttributes`)).length,
  };
}

/** What a workflow failed with; null when it completed. */
export async function failureOf(handle: Pick<WorkflowHandle, 'result'>): Promise<unknown> {
  return handle.result().then(
    () => null,
    (error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error),
  );
}

/** Status of the newest run, as operators see it. */
export async function statusOf(client: Client, workflowId: string): Promise<string> {
  return (await client.workflow.getHandle(workflowId).describe()).status.name;
}

/** Wakes a batch as the dispatcher does; one that has ended is ignored. */
export async function wakeUp(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal(WAKE_UP_SIGNAL);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Resolves once `check` holds; fails after `limitMs`. */
export async function until(check: () => Promise<boolean> | boolean, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await check())) {
    if (performance.now() > end) throw new Error('not so in time');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** A moment on a whole second, so many seconds from now. */
export function inSeconds(seconds: number): Date {
  return new Date(Math.floor(Date.now() / 1000) * 1000 + seconds * 1000);
}

/** Looks at the schedules of one kind of profiles on the server. */
export function schedulesOf(runtime: () => ActivityRuntime, kind: 'usg' | 'script') {
  const handle = (id: number): ScheduleHandle => runtime().client.schedule.getHandle(`${kind}/${id}`);
  return {
    handle,
    /** Whether the profile has a schedule. */
    async exists(id: number): Promise<boolean> {
      try {
        await handle(id).describe();
        return true;
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return false;
        throw error;
      }
    },
    /** Waits until the outbox has no change of a schedule left. */
    schedulesSynced: () =>
      until(async () => (await runtime().db.query(`select 1 from outbox where kind = 'schedule_sync'`)).length === 0),
  };
}
