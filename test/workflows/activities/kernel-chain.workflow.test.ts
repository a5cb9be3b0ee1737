import type { Client } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { createKernelsService, type KernelCommand } from '../../../src/services/software/kernels.service.ts';
import { createEngineActivities } from '../../../workers/activities/engine.activities.ts';
import { addEvent, anAccount, childrenOf, SETTINGS } from '../../support/activities/activity-rows.ts';
import { reportKernels } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { administratorOf } from '../../support/http/app.ts';
import { createSkippedServer, SkippedClock } from '../../support/temporal/skipped-time.ts';
import { readStartableActivities } from '../../../src/persistence/engine/startable.sql.ts';
import { workflowOf } from '../../../workers/dispatcher/starter.ts';
import { failureOf, statusOf, until, wakeUp, withWorker } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let db: Database;
const clock = new SkippedClock(() => environment);

beforeAll(async () => {
  environment = await createSkippedServer();
  database = await createTestDatabase();
  db = database.persistence.db;
});

afterAll(async () => {
  await environment?.teardown();
  await database?.drop();
});

interface Chain {
  client: Client;
  group: number;
  kernel: number;
  restart: number;
  batch: number;
  /** Lets the computer fetch what is due now, in order. @returns what it got */
  fetch(): Promise<number[]>;
  /** Lets the computer report. */
  report(operation: number, ok: boolean): Promise<void>;
  children(): Promise<string[]>;
  end(): Promise<unknown>;
}

/** Runs the workflow of a kernel change on real rows, with an agent played by hand. */
async function withChain(command: Partial<KernelCommand>, run: (chain: Chain) => Promise<void>): Promise<void> {
  const account = await anAccount(db);
  const computer = account.computers[0]!;
  const { next } = await reportKernels(db, computer);
  const service = createKernelsService({ db, clock, settings: SETTINGS });
  await clock.read();
  const caller = await administratorOf(db, account);
  const { id: group } = await service.change(caller, 'upgrade', {
    computerId: computer,
    packageId: next,
    after: null,
    rebootAfter: true,
    deliverAfter: null,
    deliverAfterPath: 'body.deliver_after',
    windowMinutes: 0,
    traceparent: null,
    ...command,
  });
  const [first, second] = await childrenOf(db, group);
  const batch = first!.lane_id;
  const rows = createEngine({ db, clock, settings: { expiryDays: 30 } });
  const { client } = environment;
  const engine: typeof rows = {
    ...rows,
    processPendingEvents: async (id, cancelAll) => {
      await clock.read();
      return rows.processPendingEvents(id, cancelAll);
    },
  };
  const setup = {
    connection: environment.nativeConnection,
    namespace: undefined,
    activities: createEngineActivities({ engine, client }),
  };
  const wakeBatch = async () => {
    const [row] = await db.query<{ wf_id: string }>('select wf_id from lane where id = $1', [batch]);
    await wakeUp(client, row!.wf_id);
  };
  await withWorker(setup, async (taskQueue) => {
    const [row] = await readStartableActivities(db, [group]);
    const [type, input] = workflowOf(row!);
    const handle = await client.workflow.start(type, { taskQueue, workflowId: row!.workflowId, args: [input] });
    await run({
      client,
      group,
      kernel: first!.id,
      restart: second!.id,
      batch,
      async fetch() {
        const due = await db.query<{ activity_id: number }>(DUE, [computer, new Date(await clock.read())]);
        const ids = due.map((row) => row.activity_id);
        for (const activity of ids) await addEvent(db, { batch, activity, kind: 'delivered', at: clock.now() });
        if (ids.length > 0) await wakeBatch();
        return ids;
      },
      async report(activity, ok) {
        await clock.read();
        await addEvent(db, { batch, activity, kind: 'result', ok, code: ok ? 1 : 100, at: clock.now() });
        await wakeBatch();
      },
      children: async () => (await childrenOf(db, group)).map(({ status }) => status),
      end: () => failureOf(handle),
    });
  });
}

const DUE = `
  update agent_message set state = 'sent', sent_at = $2
  where computer_id = $1 and state = 'queued' and deliver_at <= $2 returning activity_id`;

const isOpened = (batch: number) => async () =>
  (await db.query('select 1 from lane where id = $1 and opened_at is not null', [batch])).length > 0;

describe('a kernel change followed by a restart', () => {
  it('waits days for its moment and its place in the window, then restarts after the success alone', async () => {
    await clock.read();
    const after = clock.now().getTime() + 3 * DAY_MS;
    await withChain({ deliverAfter: new Date(after).toISOString(), windowMinutes: 120 }, async (chain) => {
      await until(isOpened(chain.batch));
      expect(await chain.children()).toEqual(['undelivered', 'waiting']);
      await environment.sleep(3 * DAY_MS - MINUTE_MS);
      expect(await chain.fetch()).toEqual([]);
      await environment.sleep(121 * MINUTE_MS);
      const [row] = await db.query<{ deliver_at: Date }>('select deliver_at from activity where id = $1', [
        chain.kernel,
      ]);
      expect(row!.deliver_at.getTime()).toBeGreaterThanOrEqual(after - 1000);
      expect(row!.deliver_at.getTime()).toBeLessThanOrEqual(after + 120 * MINUTE_MS);
      expect(await chain.fetch()).toEqual([chain.kernel]);
      await until(async () => (await chain.children())[0] === 'delivered');
      expect(await chain.children()).toEqual(['delivered', 'waiting']);
      await environment.sleep(20 * MINUTE_MS);
      expect(await chain.fetch()).toEqual([]);
      await chain.report(chain.kernel, true);
      await until(async () => (await chain.children())[1] === 'undelivered');
      expect(await chain.fetch()).toEqual([chain.restart]);
      await chain.report(chain.restart, true);
      expect(await chain.end()).toBeNull();
      expect(await chain.children()).toEqual(['succeeded', 'succeeded']);
      expect(await statusOf(chain.client, `activity/${chain.group}`)).toBe('COMPLETED');
    });
  });

  it('never restarts after a failure', async () => {
    await withChain({}, async (chain) => {
      await until(isOpened(chain.batch));
      expect(await chain.fetch()).toEqual([chain.kernel]);
      await chain.report(chain.kernel, false);
      expect(await chain.end()).not.toBeNull();
      expect(await chain.children()).toEqual(['failed', 'canceled']);
      expect(await chain.fetch()).toEqual([]);
      expect(await statusOf(chain.client, `activity/${chain.group}`)).toBe('FAILED');
    });
  });

  it('never restarts when the change is never answered', async () => {
    await withChain({}, async (chain) => {
      await until(isOpened(chain.batch));
      expect(await chain.fetch()).toEqual([chain.kernel]);
      await until(async () => (await chain.children())[0] === 'delivered');
      await environment.sleep(31 * DAY_MS);
      expect(await chain.end()).not.toBeNull();
      expect(await chain.children()).toEqual(['failed', 'canceled']);
      expect(await chain.fetch()).toEqual([]);
    });
  });

  it('restarts no more once canceled, although the change is reported afterwards', async () => {
    await withChain({}, async (chain) => {
      await until(isOpened(chain.batch));
      expect(await chain.fetch()).toEqual([chain.kernel]);
      await until(async () => (await chain.children())[0] === 'delivered');
      await chain.client.workflow.getHandle(`activity/${chain.group}`).cancel();
      // Waiting for the end lets the time skip, on a slow machine past the expiry before the cancel is seen.
      await until(async () => (await chain.children()).every((status) => status === 'canceled'));
      expect(await chain.end()).toBeInstanceOf(CancelledFailure);
      await addEvent(db, {
        batch: chain.batch,
        activity: chain.kernel,
        kind: 'result',
        ok: true,
        code: 1,
        at: clock.now(),
      });
      await createEngine({ db, clock, settings: { expiryDays: 30 } }).processPendingEvents(chain.batch, false);
      expect(await chain.children()).toEqual(['succeeded', 'canceled']);
      expect(await chain.fetch()).toEqual([]);
    });
  });
});
