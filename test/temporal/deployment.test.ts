import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityStatus } from '../../src/domain/activities/status.ts';
import { bootstrap } from '../../temporal/bootstrap.ts';
import { connectClient, type TemporalClient } from '../../temporal/client/connection.ts';
import {
  countPinnedElsewhere,
  DEPLOYMENT_NAME,
  makeBuildCurrent,
  readCurrentBuild,
  waitForCurrentBuild,
  waitForPollers,
} from '../../temporal/client/deployment.ts';
import { createTemporalHealth, findOutage } from '../../temporal/client/health.ts';
import type { ReportActivities } from '../../workflows/contracts/activities.ts';
import { WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';
import { ACTIVITY_ONLY_QUEUE, TASK_QUEUES, type TaskQueue } from '../../workflows/contracts/task-queues.ts';
import { OPERATION_WORKFLOW, REPORT_WORKFLOW } from '../../workflows/contracts/workflow-types.ts';
import { FakeBatches, FakeReports } from '../support/activities/fakes.ts';
import { createTestNamespace } from '../support/temporal/temporal.ts';
import {
  quietRuntime,
  TEST_DATA_CONVERTER,
  TEST_KEYS,
  until,
  workflowCode,
} from '../support/temporal/workflow-environment.ts';

let settings: { temporalAddress: string; temporalNamespace: string; encryptionKeys: typeof TEST_KEYS };
let native: NativeConnection;
let temporal: TemporalClient;
const batches = new FakeBatches();
const reports = new FakeReports();
const WAIT_MS = 20_000;

beforeAll(async () => {
  quietRuntime();
  const { address, namespace } = await createTestNamespace();
  settings = { temporalAddress: address, temporalNamespace: namespace, encryptionKeys: TEST_KEYS };
  await bootstrap(settings);
  native = await NativeConnection.connect({ address });
  temporal = await connectClient(settings);
});

afterAll(async () => {
  await temporal?.close();
  await native?.close();
});

async function startBuild(
  buildId: string,
  taskQueue: TaskQueue = TASK_QUEUES.activity,
  over: Partial<ReportActivities> = {},
): Promise<() => Promise<void>> {
  const worker = await Worker.create({
    connection: native,
    // As processes of their own: a worker that ends takes away the pollers of its name.
    identity: `${buildId}-${taskQueue}`,
    namespace: settings.temporalNamespace,
    taskQueue,
    activities: { ...batches.activities(temporal.client), ...reports.activities(temporal.client), ...over },
    ...(taskQueue === ACTIVITY_ONLY_QUEUE ? {} : { workflowBundle: { code: await workflowCode() } }),
    dataConverter: TEST_DATA_CONVERTER,
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName: DEPLOYMENT_NAME, buildId },
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
  };
}

const look = async () => {
  const health = createTemporalHealth(settings);
  const result = await health.check().then(
    () => 'well',
    (error: Error) => error.message,
  );
  await health.close();
  return result;
};

describe('worker builds', () => {
  it('gives work to the current build only, and a waiting workflow continues on the next', async () => {
    expect(await readCurrentBuild(settings)).toBeNull();
    await until(async () => (await look()).includes('no worker polls'));

    const stopFirst = await startBuild('first');
    await until(async () => (await look()).includes('no worker of the current build'));
    await makeBuildCurrent(settings, 'first', WAIT_MS);
    await makeBuildCurrent(settings, 'first', WAIT_MS);
    expect(await readCurrentBuild(settings)).toBe('first');
    await until(async () => (await look()) === 'well');

    batches.add(1, 1);
    const handle = await temporal.client.workflow.start(OPERATION_WORKFLOW, {
      taskQueue: TASK_QUEUES.activity,
      workflowId: 'activity/1',
      args: [{ batch: 1, single: true }],
    });
    await until(() => batches.calls.length === 1);

    const stopSecond = await startBuild('second');
    await makeBuildCurrent(settings, 'second', WAIT_MS);
    await stopFirst();
    batches.report(1, 0, 'succeeded');
    await handle.signal(WAKE_UP_SIGNAL);
    expect(await handle.result()).toMatchObject({ succeeded: 1 });
    await stopSecond();
  });

  it('ends a report on the build that started it, and reports when that build may be stopped', async () => {
    let attempts = 0;
    const writeReport = async (): Promise<ActivityStatus> => {
      attempts += 1;
      // Attempts after the first, too, are those of its build.
      if (attempts < 4) throw new Error('the database is down');
      return reports.activities(temporal.client).writeReport({ activity: 2 });
    };
    const stopSecond = await startBuild('second');
    const stopReports = await startBuild('second', TASK_QUEUES.report, { writeReport });
    reports.outcome = 'never ends';
    const handle = await temporal.client.workflow.start(REPORT_WORKFLOW, {
      taskQueue: TASK_QUEUES.activity,
      workflowId: 'activity/2',
      args: [{ id: 2 }],
    });
    await until(() => attempts > 0);
    const stopThird = await startBuild('third');
    const stopThirdReports = await startBuild('third', TASK_QUEUES.report);
    await makeBuildCurrent(settings, 'third', WAIT_MS);
    await until(() => reports.started === 1);
    expect(attempts).toBe(4);
    await until(async () => (await countPinnedElsewhere(settings, 'third')) === 1);
    expect(await countPinnedElsewhere(settings, 'second')).toBe(0);

    await handle.cancel();
    await handle.result().catch(() => undefined);
    const { raw } = await handle.describe();
    expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId).toBe('second');
    expect(reports).toMatchObject({ started: 1, ends: ['canceled'] });
    await until(async () => (await countPinnedElsewhere(settings, 'third')) === 0);
    await Promise.all([stopSecond(), stopReports(), stopThird(), stopThirdReports()]);
  });

  it('cannot make a build current that no worker serves', async () => {
    await expect(makeBuildCurrent(settings, 'nobody', 300)).rejects.toThrow();
    expect(await readCurrentBuild(settings)).toBe('third');
  });

  it('makes a build current before its workers poll where that is allowed', async () => {
    expect(await waitForCurrentBuild(settings, 'early', 100)).toBe('third');
    const waited = waitForCurrentBuild(settings, 'early', WAIT_MS);
    await makeBuildCurrent(settings, 'early', WAIT_MS, { allowNoPollers: true });
    expect(await waited).toBe('early');
    const stop = await startBuild('early');
    await until(async () => (await look()) === 'well');
    await stop();
  });

  it('waits until every queue is polled by the build, and names the queues that are not', async () => {
    const stops = await Promise.all(Object.values(TASK_QUEUES).map((queue) => startBuild('fourth', queue)));
    await waitForPollers(settings, 'fourth', WAIT_MS);
    await makeBuildCurrent(settings, 'fourth', WAIT_MS);
    const stopActivity = await startBuild('fifth');
    await expect(waitForPollers(settings, 'fifth', 3_000)).rejects.toThrow(/polls fleet-schedule, fleet-report:/);
    const stopSchedule = await startBuild('fifth', TASK_QUEUES.schedule);
    const served = waitForPollers(settings, 'fifth', WAIT_MS);
    const stopReport = await startBuild('fifth', TASK_QUEUES.report);
    await served;
    await Promise.all([...stops, stopActivity, stopSchedule, stopReport].map((stop) => stop()));
  });
});

describe('health', () => {
  it('responds within its limit when the server is unavailable', async () => {
    const health = createTemporalHealth({ ...settings, temporalAddress: '127.0.0.1:1' });
    await expect(health.check()).rejects.toThrow('Temporal does not respond');
    await health.close();
  });

  it('shows a worker that the server is unavailable, or has no namespace for it, and when it is available again', async () => {
    expect(await findOutage(temporal.client, settings.temporalNamespace)).toEqual([]);
    expect(await findOutage(temporal.client, 'of-nobody')).toEqual([expect.stringContaining('of-nobody')]);
    const away = await connectClient({ ...settings, temporalAddress: '127.0.0.1:1' });
    expect(await findOutage(away.client, settings.temporalNamespace)).toEqual([
      expect.stringContaining('Temporal does not respond'),
    ]);
    await away.close();
  });
});
