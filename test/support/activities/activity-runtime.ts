import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createGroup } from '../../../src/persistence/activities/activity-creation.repository.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import type { ProfileKinds } from '../../../src/services/schedules/profile-kind.ts';
import { bootstrap } from '../../../temporal/bootstrap.ts';
import { connectClient } from '../../../temporal/client/connection.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import { createEngineActivities } from '../../../workers/activities/engine.activities.ts';
import { ReportNotifications } from '../../../workers/dispatcher/report-notifications.ts';
import { createHashIdDatabaseActivities } from '../../../workers/activities/hash-id-database.activities.ts';
import { createProfileActivities } from '../../../workers/activities/profile.activities.ts';
import { createReconciler, type ReconcilerOptions } from '../../../workers/activities/reconciler.activities.ts';
import { createReportActivities, createReportCloseActivities } from '../../../workers/activities/report.activities.ts';
import { createRetentionActivities } from '../../../workers/activities/retention.activities.ts';
import { createWebhookActivities } from '../../../workers/activities/webhook.activities.ts';
import { type Dispatcher, type DispatcherEvent, startDispatcher } from '../../../workers/dispatcher/dispatcher.ts';
import { stepInterceptors } from '../../../workers/process/interceptors.ts';
import { createProfileKinds } from '../../../workers/process/parts.ts';
import type { ReconcileActivities, ReportActivities } from '../../../workflows/contracts/activities.ts';
import { ACTIVITY_ONLY_QUEUE, TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import { createTestDatabase } from '../database/database.ts';
import { createTestNamespace } from '../temporal/temporal.ts';
import { quietRuntime, TEST_DATA_CONVERTER, TEST_KEYS, workflowCode } from '../temporal/workflow-environment.ts';
import { aLoneOperation } from './activity-rows.ts';

/** What a worker process is made of, in the test's process, on a namespace and a database of its own. */
export interface ActivityRuntime {
  db: Database;
  client: Client;
  engine: Engine;
  address: string;
  namespace: string;
  /** A client whose calls go through `interceptor`. */
  clientWith(interceptor: WorkflowClientInterceptor): Client;
  /** Those that its dispatchers publish, and its workers wait for. */
  reports: ReportNotifications;
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
  const { db, genericPlanDb } = database.persistence;
  const { activities, scriptProfiles: limits, hashIdDatabases } = loadConfig({}, 'stack');
  const engine = createEngine({ ...database.persistence, clock: systemClock, settings: activities });
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
  const common = { db, genericPlanDb, client, engine, publicUrl, logger, kinds, clock: systemClock };
  const reconcilerWith = (own: Client, over: Partial<ReconcilerOptions> = {}) =>
    createReconciler({ ...common, client: own, settleMs: 0, eventRetentionDays: 30, eventFeedDays: 30, ...over });
  const reports = new ReportNotifications();
  const dispatchers: Dispatcher[] = [];
  const workers: Array<() => Promise<void>> = [];
  return {
    db,
    client,
    engine,
    reports,
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
      const dispatcher = startDispatcher({ ...common, reports, client: own, settings: activities, count, repaired });
      dispatchers.push(dispatcher);
      return dispatcher;
    },
    reconciler: reconcilerWith(client),
    reconcilerWith,
    async startWorker(code) {
      const at = { address, namespace, taskQueue: TASK_QUEUES.activity };
      const closing = createReportCloseActivities({ ...common, files: createDatabaseFileStore(db) });
      const stop = await runWorker(at, { ...createEngineActivities({ engine, client, reports }), ...closing }, code);
      workers.push(stop);
      return stop;
    },
    async startScheduleWorker() {
      const at = { address, namespace, taskQueue: TASK_QUEUES.schedule };
      const retention = createRetentionActivities({ db, clock: systemClock, logger, activityRetentionDays: 30 });
      const databases = createHashIdDatabaseActivities({ db, logger, settings: hashIdDatabases });
      const profiles = createProfileActivities({ kinds, clock: systemClock });
      const delivery = { db, clock: systemClock, encryptionKeys: TEST_KEYS, privateAddresses: true };
      const steps = createWebhookActivities(delivery);
      const stop = await runWorker(at, { ...profiles, ...retention, ...databases, ...steps });
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
    ...(taskQueue === ACTIVITY_ONLY_QUEUE ? {} : { workflowBundle: { code: code ?? (await workflowCode()) } }),
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

/** What the gateway and its agents do to the database, without them: set-based, for dispatcher and worker tests. */
export interface SqlFleet {
  accountId: number;
  computers: number[];
  /** Creates an activity as POST does, to be delivered at once or later. @returns its id */
  act(computers?: readonly number[], deliverAfter?: Date): Promise<number>;
  /** Creates an operation without a group. @returns its id */
  actAlone(computer: number): Promise<number>;
  /** Hands out what is queued and due. @returns how many */
  deliver(limit?: number): Promise<number>;
  /** Reports on delivered messages. @returns how many */
  report(ok?: boolean, limit?: number): Promise<number>;
  /** Cancels as the API does: whole groups through their workflow too. */
  cancelGroup(activity: number): Promise<void>;
}

const OPERATION = {
  type: 'InstallSnaps',
  summary: 'Install snap hello',
  message: { type: 'install-snaps', fields: {} },
};
const { activities: SETTINGS } = loadConfig({}, 'stack');

/** An account with `size` approved computers titled web-1, web-2, ... */
export async function createSqlFleet(db: Database, size: number): Promise<SqlFleet> {
  const [account] = await db.query<{ id: number }>(
    `insert into account (name, title) values ('t' || gen_random_uuid(), 'Test') returning id`,
  );
  const accountId = account!.id;
  const [group] = await db.query<{ id: number }>(
    `insert into access_group (account_id, name, title) values ($1, 'global', 'Global') returning id`,
    [accountId],
  );
  const rows = await db.query<{ id: number }>(
    `insert into computer (account_id, access_group_id, state, title)
     select $1, $2, 'approved', 'web-' || n from generate_series(1, $3::int) n returning id`,
    [accountId, group!.id, size],
  );
  const computers = rows.map(({ id }) => id);
  return {
    accountId,
    computers,
    act: (chosen = computers, deliverAfter) =>
      db.transaction((tx) =>
        createGroup(
          tx,
          {
            accountId,
            creatorId: null,
            type: 'ActivityGroup',
            summary: 'Install snap hello',
            now: new Date(),
            deliverAfter: deliverAfter ?? null,
            windowMinutes: 0,
            computers: chosen,
            operations: [OPERATION],
          },
          SETTINGS,
        ),
      ),
    actAlone: (computer) => aLoneOperation(db, { accountId, computer, now: new Date() }),
    deliver: (limit = 100_000) => count(db, DELIVER, [accountId, limit]),
    report: (ok = true, limit = 100_000) => count(db, REPORT, [accountId, ok, limit]),
    cancelGroup: (activity) =>
      db.transaction(async (tx) => {
        await tx.query(`insert into agent_inbox (lane_id, kind) select id, 'cancel' from lane where parent_id = $1`, [
          activity,
        ]);
        await tx.query(`insert into outbox (kind, key) values ('cancel', 'activity/' || $1::int)`, [activity]);
        await tx.query(`select pg_notify('flotilla_outbox', '')`);
      }),
  };
}

async function count(db: Database, text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await db.query<{ count: number }>(text, values);
  return row!.count;
}

const DELIVER = `
  with due as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.account_id = $1 and m.state = 'queued' and m.deliver_at <= now() order by 1 limit $2 for update of m
  ), sent as (
    update agent_message m set state = 'sent', sent_at = now(), send_count = send_count + 1
    from due where m.activity_id = due.activity_id returning m.activity_id, m.lane_id
  ), notified as (insert into agent_inbox (lane_id, activity_id, kind) select lane_id, activity_id, 'delivered' from sent)
  select count(*)::int as count from sent`;

const REPORT = `
  with due as (
    select m.activity_id from agent_message m join activity a on a.id = m.activity_id
    where a.account_id = $1 and m.state = 'sent' order by 1 limit $3 for update of m
  ), acked as (
    update agent_message m set state = 'acked' from due where m.activity_id = due.activity_id
    returning m.activity_id, m.lane_id
  ), notified as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body)
    select lane_id, activity_id, 'result', $2, 0, 'done' from acked)
  select count(*)::int as count from acked`;
