import type { Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { TaskQueue } from '../workflows/contracts/task-queues.ts';

/** Who polls one queue for workflow tasks. */
export interface QueuePollers {
  /** The current build, which gets the tasks; null when there is none. */
  current: string | null;
  /** Builds with a live worker; null stands for unversioned workers. */
  builds: ReadonlySet<string | null>;
}

/** A poll lasts up to a minute, so a live worker was seen within this time. */
const POLLER_AGE_MS = 90_000;
const VERSIONED = proto.temporal.api.enums.v1.WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED;
const WORKFLOW_TASKS = proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW;

/** Reads who polls a task queue. @remarks May include workers that ended up to 90 s ago. */
export async function readPollers(
  connection: Connection,
  namespace: string,
  taskQueue: TaskQueue,
): Promise<QueuePollers> {
  const { pollers, versioningInfo } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW_TASKS,
  });
  const live = pollers.filter((poller) => Date.now() - tsToMs(poller.lastAccessTime) < POLLER_AGE_MS);
  return {
    current: versioningInfo?.currentDeploymentVersion?.buildId || null,
    builds: new Set(live.map(buildOf)),
  };
}

function buildOf({ deploymentOptions }: proto.temporal.api.taskqueue.v1.IPollerInfo): string | null {
  return deploymentOptions?.workerVersioningMode === VERSIONED ? (deploymentOptions.buildId ?? null) : null;
}
