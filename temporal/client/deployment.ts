import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import pRetry from 'p-retry';
import type { Config } from '../../src/process/config.ts';
import { retryEvery } from '../../src/process/retry.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { openConnection, type ServerSettings } from './connection.ts';
import { GRPC, hasCode } from './grpc-codes.ts';
import { readPollers } from './pollers.ts';

/** Of all workers; its versions are the digests of their code. */
export const DEPLOYMENT_NAME = 'flotilla';

export type DeploymentSettings = ServerSettings & Pick<Config, 'temporalNamespace'>;

const CALL_LIMIT_MS = 5_000;
const PAUSE_MS = 100;
const CURRENT_PAUSE_MS = 50;
const POLLERS_PAUSE_MS = 500;

/** The current build, which gets new and waiting workflows; null when there is none. */
export function readCurrentBuild(settings: DeploymentSettings): Promise<string | null> {
  return withConnection(settings, currentBuild);
}

/** The current build, as soon as it is `buildId`; after `waitMs` whichever it is. */
export function waitForCurrentBuild(
  settings: DeploymentSettings,
  buildId: string,
  waitMs: number,
): Promise<string | null> {
  return withConnection(settings, async (connection, namespace) => {
    const until = Date.now() + waitMs;
    let current = await currentBuild(connection, namespace);
    while (current !== buildId && Date.now() < until) {
      await delay(CURRENT_PAUSE_MS);
      current = await currentBuild(connection, namespace);
    }
    return current;
  });
}

/**
 * Others get no more work. Idempotent. @param options - `allowNoPollers`: also before any worker of it polls
 * @throws when none polls and that is not allowed @see docs/architecture.md#deploying-a-new-build
 */
export function makeBuildCurrent(
  settings: DeploymentSettings,
  buildId: string,
  waitMs: number,
  { allowNoPollers = false }: { allowNoPollers?: boolean } = {},
): Promise<void> {
  return withConnection(settings, async (connection, namespace) => {
    const setCurrent = async (): Promise<void> => {
      const limitMs = Math.min(waitMs, CALL_LIMIT_MS);
      await connection.withDeadline(Date.now() + limitMs, () =>
        connection.workflowService.setWorkerDeploymentCurrentVersion({
          namespace,
          deploymentName: DEPLOYMENT_NAME,
          buildId,
          // The server's own check misses queues that are idle.
          ignoreMissingTaskQueues: true,
          allowNoPollers,
          identity: `flotilla-deploy-${process.pid}`,
        }),
      );
      const current = await currentBuild(connection, namespace);
      if (current !== buildId) throw new Error(`build ${buildId} is not current yet`);
    };
    await pRetry(setCurrent, retryEvery(PAUSE_MS, waitMs));
  });
}

/** Waits until workers of `buildId` poll every task queue. @throws with the queues that none of them polls in time */
export function waitForPollers(settings: DeploymentSettings, buildId: string, waitMs: number): Promise<void> {
  return withConnection(settings, async (connection, namespace) => {
    const expectPollers = async (): Promise<void> => {
      const found = await Promise.all(
        Object.values(TASK_QUEUES).map(async (queue) => {
          const { builds } = await bounded(connection, () => readPollers(connection, namespace, queue));
          return builds.has(buildId) ? [] : [queue];
        }),
      );
      const unpolled = found.flat();
      if (unpolled.length > 0) throw new Error(unpolledMessage(buildId, unpolled));
    };
    await pRetry(expectPollers, retryEvery(POLLERS_PAUSE_MS, waitMs));
  });
}

function unpolledMessage(buildId: string, queues: readonly string[]): string {
  return (
    `no worker of this build (${buildId}) polls ${queues.join(', ')}: workflows on these queues would not continue. ` +
    `Start them (npm run worker -- --queues ${queues.join(',')}) beside those of the previous build, then repeat`
  );
}

/** Counts open workflows pinned to other builds, which are reports; at zero workers of those builds may be stopped. */
export function countPinnedElsewhere(settings: DeploymentSettings, buildId: string): Promise<number> {
  const query = `ExecutionStatus = 'Running' AND TemporalWorkflowVersioningBehavior = 'Pinned'
    AND TemporalWorkerDeploymentVersion != '${DEPLOYMENT_NAME}:${buildId}'`;
  return withConnection(settings, async (connection, namespace) => {
    const { count } = await bounded(connection, () =>
      connection.workflowService.countWorkflowExecutions({ namespace, query }),
    );
    return Number(count);
  });
}

async function currentBuild(connection: Connection, namespace: string): Promise<string | null> {
  try {
    const { workerDeploymentInfo } = await bounded(connection, () =>
      connection.workflowService.describeWorkerDeployment({ namespace, deploymentName: DEPLOYMENT_NAME }),
    );
    return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId || null;
  } catch (error) {
    if (hasCode(error, GRPC.notFound)) return null;
    throw error;
  }
}

function bounded<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  return connection.withDeadline(Date.now() + CALL_LIMIT_MS, work);
}

async function withConnection<T>(
  settings: DeploymentSettings,
  work: (connection: Connection, namespace: string) => Promise<T>,
): Promise<T> {
  const connection = openConnection(settings);
  try {
    return await work(connection, settings.temporalNamespace);
  } finally {
    await connection.close();
  }
}
