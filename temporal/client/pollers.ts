import type { Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { ACTIVITY_ONLY_QUEUE, type TaskQueue } from '../../workflows/contracts/task-queues.ts';

/** A poll lasts up to a minute, so a live worker was seen within this time. */
const POLLER_AGE_MS = 90_000;
const VERSIONED = proto.temporal.api.enums.v1.WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED;
const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** The current build, which gets the tasks, and all that polled in the last 90 s; null: unversioned workers. */
export async function readPollers(connection: Connection, namespace: string, taskQueue: TaskQueue) {
  const { pollers, versioningInfo } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: taskQueue === ACTIVITY_ONLY_QUEUE ? TASK_QUEUE_TYPE_ACTIVITY : TASK_QUEUE_TYPE_WORKFLOW,
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
