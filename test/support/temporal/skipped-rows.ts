import { it as base } from 'vitest';
import { readStartableActivities } from '../../../src/persistence/engine/startable.sql.ts';
import type { Clock } from '../../../src/services/common/ports.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { createEngineActivities } from '../../../workers/activities/engine.activities.ts';
import { ReportNotifications } from '../../../workers/dispatcher/report-notifications.ts';
import { workflowOf } from '../../../workers/dispatcher/starter.ts';
import { addEvent, type ChildState, childrenOf } from '../activities/activity-rows.ts';
import { createTestDatabase } from '../database/database.ts';
import { createSkippedServer } from './skipped-time.ts';
import { startWorker, until, wakeUp } from './workflow-environment.ts';

/** The server's clock as it was last read. */
export interface SkippedClock extends Clock {
  /** Reads the server's clock. */
  read(): Promise<Date>;
}

/**
 * `it` for workflows on real rows: a worker has the product's workflow code and engine, on a server that skips time
 * while a result is awaited and in `server.sleep`. `start` starts the workflow of a group and waits until its messages are
 * queued; `agents` plays its computers.
 */
export const itOnRows = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
  .extend('persistence', { scope: 'file' }, async ({}, { onCleanup }) => {
    const database = await createTestDatabase();
    onCleanup(() => database.drop());
    return database.persistence;
  })
  .extend('db', { scope: 'file' }, ({ persistence }) => persistence.db)
  // One for each test: what a test leaves open would keep the clock of the next from skipping.
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
  .extend('server', async ({}, { onCleanup }) => {
    const server = await createSkippedServer();
    onCleanup(() => server.teardown());
    return server;
  })
  .extend('clock', async ({ server }): Promise<SkippedClock> => {
    let now = new Date(await server.currentTimeMs());
    const read = async () => {
      now = new Date(await server.currentTimeMs());
      return now;
    };
    return { now: () => now, read };
  })
  .extend('engine', ({ persistence, clock }) => createEngine({ ...persistence, clock, settings: { expiryDays: 30 } }))
  .extend('taskQueue', async ({ server, clock, engine }, { onCleanup }) => {
    const { client, nativeConnection: connection } = server;
    const onTime: typeof engine = {
      ...engine,
      async processPendingEvents(id, cancelAll) {
        await clock.read();
        return engine.processPendingEvents(id, cancelAll);
      },
    };
    const reports = new ReportNotifications();
    const activities = createEngineActivities({ engine: onTime, client, reports });
    const worker = await startWorker({ connection, activities });
    onCleanup(worker.stop);
    return worker.taskQueue;
  })
  .extend('start', ({ db, server, taskQueue }) => async (group: number) => {
    const [startable] = await readStartableActivities(db, [group]);
    const { workflowId } = startable!;
    const [type, input] = workflowOf(startable!);
    const handle = await server.client.workflow.start(type, { taskQueue, workflowId, args: [input] });
    const isQueued = ({ status, message }: ChildState) => status === 'waiting' || message !== null;
    await until(async () => (await childrenOf(db, group)).every(isQueued));
    return handle;
  })
  .extend('agents', ({ db, server, clock }) => {
    async function addEvents(operations: readonly number[], event: { kind: 'delivered' | 'result'; ok?: boolean }) {
      const rows = await db.query<{ activity: number; batch: number; workflowId: string }>(
        `select a.id as activity, l.id as batch, l.wf_id as "workflowId" from activity a join lane l on l.id = a.lane_id
         where a.id = any($1) order by a.id`,
        [operations],
      );
      for (const { activity, batch } of rows) await addEvent(db, { ...event, activity, batch, at: clock.now() });
      for (const id of new Set(rows.map(({ workflowId }) => workflowId))) await wakeUp(server.client, id);
    }
    return {
      /** Lets computers fetch what is due now. @returns their operations, in the order in which they were created */
      async fetch(computers: readonly number[]): Promise<number[]> {
        const fetched = await db.query<{ id: number }>(FETCH, [computers, await clock.read()]);
        const operations = fetched.map(({ id }) => id);
        await addEvents(operations, { kind: 'delivered' });
        return operations;
      },
      /** Lets computers report that operations have succeeded or failed. */
      async report(operations: readonly number[], ok = true): Promise<void> {
        await clock.read();
        await addEvents(operations, { kind: 'result', ok });
      },
    };
  })
  .extend(
    'statuses',
    ({ db }) =>
      async (group: number) =>
        (await childrenOf(db, group)).map(({ status }) => status),
  )
  .extend('untilAll', ({ statuses }) => async (group: number, status: string) => {
    await until(async () => (await statuses(group)).every((found) => found === status));
  });

const FETCH = `
  with due as (
    update agent_message set state = 'sent', sent_at = $2
    where computer_id = any($1::int[]) and state = 'queued' and deliver_at <= $2 returning activity_id)
  select activity_id as id from due order by activity_id`;
