import type { Connection } from '@temporalio/client';
import pRetry from 'p-retry';
import type { Config } from '../src/process/config.ts';
import { retryEvery } from '../src/process/retry.ts';
import { TASK_QUEUES } from '../workflows/contracts/task-queues.ts';
import { openConnection, type ServerSettings } from './connection.ts';
import { GRPC, hasCode } from './grpc-codes.ts';
import { readPollers } from './pollers.ts';

/** All workers of Flotilla are one deployment; its versions are the digests of the workers' code. */
export const DEPLOYMENT_NAME = 'flotilla';

export type DeploymentSettings = ServerSettings & Pick<Config, 'temporalNamespace'>;

const CALL_LIMIT_MS = 5_000;
const PAUSE_MS = 100;
const POLLERS_PAUSE_MS = 500;

/** The current build, which gets new and waiting workflows; null when there is none. */
export async function readCurrentBuild(settings: DeploymentSettings): Promise<string | null> {
  return await withConnection(settings, (connection) => currentBuild(connection, settings.temporalNamespace));
}

/**
 * Makes `buildId` the current build: workers of other builds get no new or waiting workflows any more.
 * @param waitMs - how long to wait for a worker of this build: without one it cannot be made current
 * @throws when no such worker polls in time
 * @remarks Idempotent.
 * @see docs/architecture.md#deploying-a-new-build
 */
export async function makeBuildCurrent(settings: DeploymentSettings, buildId: string, waitMs: number): Promise<void> {
  const namespace = settings.temporalNamespace;
  await withConnection(settings, async (connection) => {
    const isCurrent = async (): Promise<boolean> => (await currentBuild(connection, namespace)) === buildId;
    const makeCurrent = async (): Promise<void> => {
      if (await isCurrent()) return;
      await bounded(connection, () =>
        connection.workflowService.setWorkerDeploymentCurrentVersion({
          namespace,
          deploymentName: DEPLOYMENT_NAME,
          buildId,
          // The server's own check misses queues that are idle. See {@link waitForPollers}.
          ignoreMissingTaskQueues: true,
          identity: `flotilla-deploy-${process.pid}`,
        }),
      );
      if (!(await isCurrent())) throw new Error(`build ${buildId} is not current yet`);
    };
    await pRetry(makeCurrent, retryEvery(PAUSE_MS, waitMs));
  });
}

/**
 * Waits until workers of `buildId` poll every task queue, so that work continues once the build is current.
 * @param waitMs - how long to wait for them
 * @throws with the names of the queues that none of them polls in time
 */
export async function waitForPollers(settings: DeploymentSettings, buildId: string, waitMs: number): Promise<void> {
  const namespace = settings.temporalNamespace;
  await withConnection(settings, async (connection) => {
    const expectPollers = async (): Promise<void> => {
      const waiting = await findUnpolledQueues(connection, namespace, buildId);
      if (waiting.length > 0) throw new Error(unpolledMessage(buildId, waiting));
    };
    await pRetry(expectPollers, retryEvery(POLLERS_PAUSE_MS, waitMs));
  });
}

async function findUnpolledQueues(connection: Connection, namespace: string, buildId: string): Promise<string[]> {
  const found = await Promise.all(
    Object.values(TASK_QUEUES).map(async (queue) => {
      const { builds } = await bounded(connection, () => readPollers(connection, namespace, queue));
      return builds.has(buildId) ? [] : [queue];
    }),
  );
  return found.flat();
}

function unpolledMessage(buildId: string, queues: readonly string[]): string {
  const names = queues.join(', ');
  return (
    `no worker of this build (${buildId}) polls ${names}: workflows on these queues would not continue. ` +
    `Start them (npm run worker -- --queues ${queues.join(',')}) beside those of the previous build, then repeat`
  );
}

/**
 * Counts open workflows pinned to other builds, which are reports; at zero the workers of those builds may be stopped.
 * @throws when the server does not respond
 */
export async function countPinnedElsewhere(settings: DeploymentSettings, buildId: string): Promise<number> {
  const { temporalNamespace: namespace } = settings;
  const query = `ExecutionStatus = 'Running' AND TemporalWorkflowVersioningBehavior = 'Pinned'
    AND TemporalWorkerDeploymentVersion != '${DEPLOYMENT_NAME}:${buildId}'`;
  return await withConnection(settings, async (connection) => {
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
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = openConnection(settings);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
