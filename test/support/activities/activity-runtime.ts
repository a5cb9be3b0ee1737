import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import type { ProfileKinds } from '../../../src/services/schedules/profile-kind.ts';
import { bootstrap } from '../../../temporal/bootstrap.ts';
import { connectClient } from '../../../temporal/connection.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { createRetentionActivities } from '../../../workers/activities/retention.activities.ts';
import { createEngineActivities } from '../../../workers/activities/engine.activities.ts';
import { createProfileActivities } from '../../../workers/activities/profile.activities.ts';
import { createReportActivities } from '../../../workers/activities/report.activities.ts';
import { stepInterceptors } from '../../../workers/interceptors.ts';
import { createProfileKinds } from '../../../workers/profile-kinds.ts';
import { createReconciler, type ReconcilerOptions } from '../../../workers/reconciler/reconciler.ts';
import { type Dispatcher, type DispatcherEvent, startDispatcher } from '../../../workers/dispatcher/dispatcher.ts';
import type { ReconcileActivities, ReportActivities } from '../../../workflows/contracts/activities.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import { createTestDatabase } from '../database/database.ts';
import { createTestNamespace } from '../temporal/temporal.ts';
import { quietRuntime, TEST_DATA_CONVERTER, TEST_KEYS, workflowCode } from '../temporal/workflow-environment.ts';

/** What a worker process is made of, in the test's process, on a namespace and a database of its own. */
export interface ActivityRuntime {
  db: Database;
  client: Client;
  engine: Engine;
  address: string;
  namespace: string;
  /** A client whose calls go through `interceptor`. */
  clientWith(interceptor: WorkflowClientInterceptor): Client;
  /** How often outbox dispatchers of this runtime did what. */
  events: Record<DispatcherEvent | 'repaired', number>;
  /** Starts an outbox dispatcher, with a client of its own if need be. */
  startDispatcher(client?: Client): Dispatcher;
  reconciler: ReconcileActivities;
  /** A reconciler with a client of its own, and with what else is to differ. */
  reconcilerWith(client: Client, over?: Partial<ReconcilerOptions>): ReconcileActivities;
  kinds: ProfileKinds;
  /** Runs a worker of the schedule queue until the returned function is called. */
  startScheduleWorker(): Promise<() => Promise<void>>;
  /** Runs a worker of the report queue until the returned function is called. */
  startReportWorker(over?: Partial<ReportActivities>): Promise<() => Promise<void>>;
  /** Runs a worker of the activity queue, with today's workflow code or `code`, until the returned function is called. */
  startWorker(code?: string): Promise<() => Promise<void>>;
  status(workflowId: string): Promise<string>;
  close(): Promise<void>;
}

const logger = testLogger();

export async function createActivityRuntime(): Promise<ActivityRuntime> {
  quietRuntime();
  const { address, namespace } = await createTestNamespace();
  const database = await createTestDatabase();
  const settings = { temporalAddress: address, temporalNamespace: namespace, encryptionKeys: TEST_KEYS };
  await bootstrap(settings);
  const { client, close } = await connectClient(settings);
  const { db } = database.persistence;
  const { activities, scriptProfiles: limits } = loadConfig({}, 'stack');
  const engine = createEngine({ db, clock: systemClock, settings: activities });
  const events = {
    scheduled: 0,
    started: 0,
    canceled: 0,
    nudged: 0,
    repeated: 0,
    late: 0,
    repaired: 0,
    refused: 0,
    failed: 0,
  };
  const publicUrl = 'http://localhost:8080';
  const kinds = createProfileKinds({ db, settings: activities, limits, publicUrl, logger });
  const common = { db, client, engine, publicUrl, logger, kinds, clock: systemClock };
  const reconcilerWith = (own: Client, over: Partial<ReconcilerOptions> = {}) =>
    createReconciler({ ...common, client: own, settleMs: 0, eventRetentionDays: 30, ...over });
  const dispatchers: Dispatcher[] = [];
  const workers: Array<() => Promise<void>> = [];
  return {
    db,
    client,
    engine,
    address,
    namespace,
    clientWith: (interceptor) =>
      new Client({
        connection: client.connection,
        namespace,
        dataConverter: TEST_DATA_CONVERTER,
        interceptors: { workflow: [interceptor] },
      }),
    events,
    kinds,
    startDispatcher(own = client) {
      const count = (what: DispatcherEvent): void => {
        events[what] += 1;
      };
      const repaired = (): void => {
        events.repaired += 1;
      };
      const dispatcher = startDispatcher({ ...common, client: own, settings: activities, count, repaired });
      dispatchers.push(dispatcher);
      return dispatcher;
    },
    reconciler: reconcilerWith(client),
    reconcilerWith,
    async startWorker(code) {
      const at = { address, namespace, taskQueue: TASK_QUEUES.activity };
      const stop = await runWorker(at, createEngineActivities({ engine, client }), code);
      workers.push(stop);
      return stop;
    },
    async startScheduleWorker() {
      const at = { address, namespace, taskQueue: TASK_QUEUES.schedule };
      const retention = createRetentionActivities({ db, clock: systemClock, logger, activityRetentionDays: 30 });
      const stop = await runWorker(at, { ...createProfileActivities({ kinds, clock: systemClock }), ...retention });
      workers.push(stop);
      return stop;
    },
    async startReportWorker(over = {}) {
      const at = { address, namespace, taskQueue: TASK_QUEUES.report };
      const steps = createReportActivities({ ...common, files: createDatabaseFileStore(db) });
      const stop = await runWorker(at, { ...steps, ...over });
      workers.push(stop);
      return stop;
    },
    status: async (workflowId) => (await client.workflow.getHandle(workflowId).describe()).status.name,
    async close() {
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
      await Promise.all(workers.map((stop) => stop()));
      await close();
      await database.drop();
    },
  };
}

async function runWorker(
  { address, namespace, taskQueue }: { address: string; namespace: string; taskQueue: string },
  activities: object,
  code?: string,
): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    activities,
    interceptors: { activity: [stepInterceptors({ activityEnded: () => undefined })] },
    workflowBundle: { code: code ?? (await workflowCode()) },
    dataConverter: TEST_DATA_CONVERTER,
    maxCachedWorkflows: 100,
  });
  const running = worker.run();
  let stopped: Promise<void> | null = null;
  return () => {
    stopped ??= (async () => {
      worker.shutdown();
      await running;
      await connection.close();
    })();
    return stopped;
  };
}
