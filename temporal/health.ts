import type { Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { TemporalHealth } from '../src/services/ports.ts';
import { TASK_QUEUES } from '../workflows/contracts/task-queues.ts';
import { openConnection, type ServerSettings, type TemporalSettings } from './connection.ts';

const ANSWER_LIMIT_MS = 2_000;
const CACHE_MS = 1_500;
/** Somebody who waits for readiness asks again at once and must not be told yesterday's answer. */
const FAILURE_CACHE_MS = 100;
/** A poll lasts up to a minute, so a live worker was seen within this. */
const POLLER_AGE_MS = 90_000;
const VERSIONED = proto.temporal.api.enums.v1.WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED;
const WORKFLOW_TASKS = proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW;

/**
 * Tells whether an activity accepted now would also be carried out now: the server serves our namespace and a worker
 * polls the activity queue.
 *
 * @remarks One good answer serves all callers of 1.5 s; no look takes longer than 2 s.
 */
export function createTemporalHealth(
  config: ServerSettings & Pick<TemporalSettings, 'temporalNamespace'>,
): TemporalHealth & { close(): Promise<void> } {
  const connection = openConnection(config);
  let last: { until: number; outcome: Promise<void> } | null = null;
  return {
    check() {
      if (!last || Date.now() > last.until) {
        const look = { until: Date.now() + CACHE_MS, outcome: lookAt(connection, config.temporalNamespace) };
        look.outcome.catch(() => {
          look.until = Date.now() + FAILURE_CACHE_MS;
        });
        last = look;
      }
      return last.outcome;
    },
    close: () => connection.close(),
  };
}

async function lookAt(connection: Connection, namespace: string): Promise<void> {
  const { pollers, versioningInfo } = await connection
    .withDeadline(Date.now() + ANSWER_LIMIT_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: TASK_QUEUES.activity },
        taskQueueType: WORKFLOW_TASKS,
      }),
    )
    .catch((error: unknown) => {
      throw new Error(`Temporal does not answer: ${error instanceof Error ? error.message : String(error)}`);
    });
  const current = versioningInfo?.currentDeploymentVersion?.buildId || null;
  const live = pollers.filter((poller) => Date.now() - tsToMs(poller.lastAccessTime) < POLLER_AGE_MS);
  if (live.length === 0) throw new Error(`no worker polls the task queue ${TASK_QUEUES.activity}`);
  // Only the current build gets work; without one, only workers without a version.
  if (!live.some((poller) => buildOf(poller) === current)) {
    throw new Error(`no worker of the current build polls the task queue ${TASK_QUEUES.activity}`);
  }
}

function buildOf({ deploymentOptions }: proto.temporal.api.taskqueue.v1.IPollerInfo): string | null {
  return deploymentOptions?.workerVersioningMode === VERSIONED ? (deploymentOptions.buildId ?? null) : null;
}
