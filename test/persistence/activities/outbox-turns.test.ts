import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACTIVITIES, listenForWork, OUTBOX_CHANNEL } from '../../../src/persistence/activities/outbox.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import type { Startable } from '../../../src/persistence/engine/startable.sql.ts';
import { enqueueScheduleSync } from '../../../src/persistence/schedules/schedule-syncs.sql.ts';
import { createLogger } from '../../../src/process/logger.ts';
import type { Poll } from '../../../workers/dispatcher/loop.ts';
import { outboxPoll } from '../../../workers/dispatcher/outbox.ts';
import { createSqlFleet } from '../../support/activities/activity-runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const MANY = 120;
const BATCH = 50;
let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());

/** A dispatcher whose server takes every start. */
function dispatcher(started: Startable[]): Poll {
  return outboxPoll({
    ...database.persistence,
    client: { withDeadline: (_: number, work: () => Promise<unknown>) => work() } as unknown as Client,
    starter: {
      start: async (row) => {
        started.push(row);
        return true;
      },
    },
    logger: createLogger({ level: 'silent', role: 'test' }),
    count: () => undefined,
  });
}

it('carries out the one command of an account in the next poll, however many of another came before', async () => {
  const busy = await createSqlFleet(db, MANY);
  const calm = await createSqlFleet(db, 1);
  const created: number[] = [];
  for (const computer of busy.computers) created.push(await busy.actAlone(computer));
  const single = await calm.actAlone(calm.computers[0]!);
  // As an older process wrote it, without an account.
  await db.query('update outbox set account_id = 0 where key = $1', [String(created.at(-1))]);

  const started: Startable[] = [];
  const round = dispatcher(started);
  expect(await round()).toBe(true);
  const first = started.map(({ activityId }) => activityId);
  expect(first).toHaveLength(BATCH);
  expect(first).toContain(single);
  expect(first).toContain(created.at(-1));
  expect(first.filter((id) => created.slice(0, -1).includes(id))).toEqual(created.slice(0, BATCH - 2));

  while ((await round()) === true);
  expect(started.map(({ activityId }) => activityId).toSorted((a, b) => a - b)).toEqual([...created, single]);
  expect(await db.query('select from outbox')).toEqual([]);
});

it('shares the commands of one account among outbox dispatchers', async () => {
  const fleet = await createSqlFleet(db, MANY);
  const created: number[] = [];
  for (const computer of fleet.computers) created.push(await fleet.actAlone(computer));
  const started: Startable[] = [];
  const drain = async (round: Poll) => {
    while ((await round()) === true);
  };
  while ((await db.query('select from outbox limit 1')).length > 0) {
    await Promise.all([drain(dispatcher(started)), drain(dispatcher(started))]);
  }
  expect(started.map(({ activityId }) => activityId).toSorted((a, b) => a - b)).toEqual(created);
});

it('notifies dispatchers of activities apart from schedules, which then wait for no poll', async () => {
  const fleet = await createSqlFleet(db, 1);
  const connection = await db.connect();
  const notified: string[][] = [];
  connection.on('notification', ({ channel, payload }) => notified.push([channel, payload!]));
  await listenForWork(connection);
  await fleet.act();
  await connection.query('select 1');
  expect(notified).toEqual([[OUTBOX_CHANNEL, ACTIVITIES]]);

  await db.transaction((tx) => enqueueScheduleSync(tx, 'usg/1', new Date()));
  await connection.query('select 1');

  expect(notified.slice(1)).toEqual([[OUTBOX_CHANNEL, '']]);
  connection.release(true);
});
