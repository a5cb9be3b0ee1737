import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_ANSWER } from '../../../src/domain/scripts/result.ts';
import { scriptOperation } from '../../../src/domain/scripts/script.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createEngine } from '../../../src/services/engine/engine.ts';
import { createEngineActivities } from '../../../workers/activities/engine.activities.ts';
import { addEvent, aGroup, anAccount, childrenOf, type TestAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createSkippedServer, SkippedClock } from '../../support/temporal/skipped-time.ts';
import { readStartableActivities } from '../../../src/persistence/engine/startable.sql.ts';
import { workflowOf } from '../../../workers/dispatcher/starter.ts';
import { countEvents, until, wakeUp, withWorker } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let environment: TestWorkflowEnvironment;
let database: TestDatabase;
let db: Database;
const clock = new SkippedClock(() => environment);

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});

afterAll(() => database?.drop());

// A server for each test: what one leaves open would keep the clock of the next from skipping.
beforeEach(async () => {
  environment = await createSkippedServer();
});

afterEach(async () => {
  await environment?.teardown();
});

interface Fleet {
  /** Starts the workflow of a group. */
  start(group: number): Promise<void>;
  /** Lets computers fetch what is due now. @returns operations in the order they go out */
  fetch(computers: readonly number[]): Promise<number[]>;
  report(operations: readonly number[]): Promise<void>;
}

/** Workers on real rows, with agents played by hand. */
async function withFleet(run: (fleet: Fleet) => Promise<void>): Promise<void> {
  const rows = createEngine({ db, clock, settings: { expiryDays: 30 } });
  const { client } = environment;
  const engine: typeof rows = {
    ...rows,
    processPendingEvents: async (id, cancelAll) => {
      await clock.read();
      return rows.processPendingEvents(id, cancelAll);
    },
  };
  const addEvents = async (activities: readonly number[], kind: 'delivered' | 'result', at: Date) => {
    const rows = await db.query<{ id: number; batch: number; wf_id: string }>(
      'select a.id, l.id as batch, l.wf_id from activity a join lane l on l.id = a.lane_id where a.id = any($1)',
      [activities],
    );
    for (const { id, batch } of rows) {
      await addEvent(db, { batch, activity: id, kind, at, ...(kind === 'result' ? { ok: true } : {}) });
    }
    for (const workflow of new Set(rows.map(({ wf_id }) => wf_id))) await wakeUp(client, workflow);
  };
  const activities = createEngineActivities({ engine, client });
  const setup = { connection: environment.nativeConnection, namespace: undefined, activities };
  await withWorker(setup, async (taskQueue) => {
    await run({
      async start(group) {
        const [row] = await readStartableActivities(db, [group]);
        const [type, input] = workflowOf(row!);
        await client.workflow.start(type, { taskQueue, workflowId: row!.workflowId, args: [input] });
        await until(async () => (await childrenOf(db, group)).every(({ message }) => message !== null));
      },
      async fetch(computers) {
        const at = new Date(await clock.read());
        const due = await db.query<{ activity_id: number }>(FETCH, [computers, at]);
        const ids = due.map(({ activity_id }) => activity_id);
        if (ids.length > 0) await addEvents(ids, 'delivered', at);
        return ids;
      },
      async report(operations) {
        await addEvents(operations, 'result', new Date(await clock.read()));
      },
    });
  });
}

const FETCH = `
  with due as (
    update agent_message set state = 'sent', sent_at = $2
    where computer_id = any($1::int[]) and state = 'queued' and deliver_at <= $2 returning activity_id)
  select activity_id from due order by activity_id`;

const has = (group: number, status: string) => async () =>
  (await childrenOf(db, group)).every((child) => child.status === status);

const group = (account: TestAccount, plan: Parameters<typeof aGroup>[2] = {}) =>
  aGroup(db, account, { now: clock.now(), ...plan });

describe('an agent that is offline for weeks', () => {
  it('gets its messages in order when it returns, none expired', async () => {
    await withFleet(async ({ start, fetch, report }) => {
      const account = await anAccount(db);
      const groups: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        await clock.read();
        groups.push(await group(account));
        await start(groups.at(-1)!);
        await environment.sleep(15 * DAY_MS);
      }
      const fetched = await fetch(account.computers);
      const children = await Promise.all(groups.map(async (id) => (await childrenOf(db, id))[0]!.id));
      expect(fetched).toEqual(children);
      await report(fetched);
      for (const id of groups) await until(has(id, 'succeeded'));
    });
  });
});

describe('a window after a moment', () => {
  it('spreads deliveries over it, each at its own time, which the API shows', async () => {
    await withFleet(async ({ start, fetch, report }) => {
      const account = await anAccount(db, { computers: 30 });
      const after = (await clock.read()) + 2 * DAY_MS;
      const id = await group(account, { deliverAfter: new Date(after), windowMinutes: 60 });
      await start(id);
      const moments = (await childrenOf(db, id)).map(({ deliver_at }) => deliver_at!.getTime());
      expect(Math.min(...moments)).toBeGreaterThanOrEqual(after);
      expect(Math.max(...moments)).toBeLessThanOrEqual(after + 60 * MINUTE_MS);
      expect(new Set(moments).size).toBeGreaterThan(25);
      expect(await fetch(account.computers)).toEqual([]);
      await environment.sleep(2 * DAY_MS + 30 * MINUTE_MS);
      const half = await fetch(account.computers);
      expect(half.length).toBeGreaterThan(0);
      expect(half.length).toBeLessThan(30);
      await environment.sleep(31 * MINUTE_MS);
      const rest = await fetch(account.computers);
      expect(half.length + rest.length).toBe(30);
      await report([...half, ...rest]);
      await until(has(id, 'succeeded'));
      const sent = await db.query<{ activity_id: number; sent_at: Date }>(
        'select activity_id, sent_at from agent_message where activity_id = any($1)',
        [[...half, ...rest]],
      );
      const sentAt = new Map(sent.map(({ activity_id, sent_at }) => [activity_id, sent_at]));
      for (const row of await childrenOf(db, id)) {
        expect(row.delivery_time).toEqual(sentAt.get(row.id));
        expect(row.delivery_time!.getTime()).toBeGreaterThanOrEqual(row.deliver_at!.getTime());
      }
      expect((await countEvents(environment.client.workflow.getHandle(`activity/${id}/lane/1`))).total).toBeLessThan(
        80,
      );
    });
  });
});

describe('what cannot be answered any more', () => {
  it('fails 30 days after delivery, with the reason', async () => {
    await withFleet(async ({ start, fetch }) => {
      const account = await anAccount(db);
      await clock.read();
      const id = await group(account);
      await start(id);
      expect(await fetch(account.computers)).toHaveLength(1);
      await until(has(id, 'delivered'));
      await environment.sleep(29 * DAY_MS);
      expect(await has(id, 'delivered')()).toBe(true);
      await environment.sleep(2 * DAY_MS);
      await until(has(id, 'failed'));
      const [child] = await childrenOf(db, id);
      expect(child!.result_text).toBe('The computer did not answer within 30 days of delivery.');
      expect(child!.completion_time!.getTime() - child!.delivery_time!.getTime()).toBeLessThan(30 * DAY_MS + MINUTE_MS);
    });
  });

  it('ends ten minutes after the time limit when it is a script, with the reason', async () => {
    await withFleet(async ({ start, fetch }) => {
      const account = await anAccount(db);
      await clock.read();
      const script = { id: 1, version: 1, title: 'x', interpreter: '/bin/sh', code: 'sleep 9', attachments: [] };
      const operations = [scriptOperation(script, { username: 'root', timeLimit: 5 * 60, env: {} })];
      const id = await group(account, { operations });
      await start(id);
      await environment.sleep(DAY_MS);
      await fetch(account.computers);
      await until(has(id, 'delivered'));
      await environment.sleep(14 * MINUTE_MS);
      expect(await has(id, 'delivered')()).toBe(true);
      await environment.sleep(2 * MINUTE_MS);
      await until(has(id, 'failed'));
      const [child] = await childrenOf(db, id);
      expect(child).toMatchObject({ result_text: NO_ANSWER, result_code: null });
      const lasted = child!.completion_time!.getTime() - child!.delivery_time!.getTime();
      expect(lasted).toBeGreaterThanOrEqual(15 * MINUTE_MS);
      expect(lasted).toBeLessThan(16 * MINUTE_MS);
    });
  });

  it('is not delivered after its last moment, and has the reason', async () => {
    await withFleet(async ({ start, fetch }) => {
      const account = await anAccount(db, { computers: 2 });
      const last = (await clock.read()) + 3 * DAY_MS;
      const id = await group(account);
      await db.query('update activity set deliver_before_time = $2 where parent_id = $1', [id, new Date(last)]);
      await start(id);
      const [first] = account.computers;
      const [taken] = await fetch([first!]);
      await environment.sleep(3 * DAY_MS + MINUTE_MS);
      await until(async () => (await childrenOf(db, id)).some(({ status }) => status === 'failed'));
      expect(await fetch(account.computers)).toEqual([]);
      const [one, two] = await childrenOf(db, id);
      expect(one).toMatchObject({ id: taken, status: 'delivered' });
      expect(two).toMatchObject({ status: 'failed', message: 'withdrawn' });
      expect(two!.result_text).toBe('The computer did not fetch the operation before its last moment for delivery.');
    });
  });
});
