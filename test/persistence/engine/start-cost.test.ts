import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTaggedActivity } from '../../../src/persistence/activities/activity-tags.sql.ts';
import { claimCommands } from '../../../src/persistence/activities/outbox.sql.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { readOpenBatches } from '../../../src/persistence/engine/batches.sql.ts';
import {
  addCancel,
  applyPendingEvents,
  readBatchesWithEvents,
} from '../../../src/persistence/engine/pending-events.sql.ts';
import { readStartableActivities, readStartableBatches } from '../../../src/persistence/engine/startable.sql.ts';
import { aGroup, anAccount, type TestAccount } from '../../support/activities/activity-rows.ts';
import { countRowsRead, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const COMPUTERS = 2_000;
const LARGE_GROUPS = 5;
const SINGLE_ACTIONS = 100;
/** Activities that a statement about one of them may read. */
const FEW = 20;
const SCOPE = { view: 'all', manage: 'all', execute: 'all', usgProfiles: 'all', scriptProfiles: 'all' } as const;

let database: TestDatabase;
let db: Database;
let account: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  account = await anAccount(db, { computers: COMPUTERS });
  for (let made = 0; made < LARGE_GROUPS; made++) await aGroup(db, account);
  await db.query('analyze activity');
  await db.query('analyze lane');
});
afterAll(() => database.drop());

describe('an action on one computer after large groups', () => {
  let group: number;
  let batch: number;

  beforeAll(async () => {
    group = await aGroup(db, { ...account, computers: account.computers.slice(0, 1) });
    const [row] = await db.query<{ id: number }>('select id from lane where parent_id = $1', [group]);
    batch = row!.id;
  });

  it.each([
    ['is started', (tx: Sql) => readStartableActivities(tx, [group])],
    ['is started again', (tx: Sql) => readStartableBatches(tx, [batch])],
    ['opens its batches', (tx: Sql) => readOpenBatches(tx, group)],
    ['is read', (tx: Sql) => readIt(tx)],
  ])('%s without reading those before it', async (_, read) => {
    const { result, count } = await db.transaction((tx) => countRowsRead<unknown[]>(tx, ['activity'], () => read(tx)));
    expect(result).toHaveLength(1);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(FEW);
  });

  const readIt = (tx: Sql) => readChildren(tx, account, group);
});

describe('an action on one computer of a new installation, without statistics', () => {
  let fresh: TestDatabase;
  let freshDb: Database;
  let newAccount: TestAccount;
  let group: number;

  beforeAll(async () => {
    fresh = await createTestDatabase();
    freshDb = fresh.persistence.db;
    // Autovacuum also analyzes, at any moment.
    for (const table of ['activity', 'lane', 'agent_inbox', 'outbox'])
      await freshDb.query(`alter table ${table} set (autovacuum_enabled = false)`);
    newAccount = await anAccount(freshDb, { computers: COMPUTERS });
    group = await aGroup(freshDb, { ...newAccount, computers: newAccount.computers.slice(0, 1) });
  });
  afterAll(() => fresh.drop());

  it('is read and started by plans from when it was alone without reading those after it', async () => {
    const { genericPlanDb } = fresh.persistence;
    const count = (read: (tx: Sql) => Promise<unknown[]>) =>
      genericPlanDb.transaction((tx) => countRowsRead(tx, ['activity'], () => read(tx)));
    const readAll = async () => [
      await count((tx) => readChildren(tx, newAccount, group)),
      await count((tx) => readStartableActivities(tx, [group])),
    ];
    await readAll();
    await aGroup(freshDb, newAccount);

    for (const { result, count: rows } of await readAll()) {
      expect(result).toHaveLength(1);
      expect(rows).toBeGreaterThan(0);
      expect(rows).toBeLessThan(FEW);
    }
  });

  it('has its events found without reading all batches', async () => {
    for (const computer of newAccount.computers.slice(0, SINGLE_ACTIONS))
      await aGroup(freshDb, { ...newAccount, computers: [computer] });
    await freshDb.query('update lane set opened_at = now()');
    const [batch] = await freshDb.query<{ id: number }>('select id from lane where parent_id = $1', [group]);
    await addCancel(freshDb, batch!.id, 'A cancel is an event.');

    const { result, count } = await freshDb.transaction((tx) =>
      countRowsRead(tx, ['lane'], () => readBatchesWithEvents(tx, 0)),
    );

    expect(result.map(({ id }) => id)).toEqual([batch!.id]);
    expect(count).toBe(1);
  });

  it('has its events applied by a plan from when there were none without reading those of others', async () => {
    const [batch] = await freshDb.query<{ id: number }>('select id from lane where parent_id = $1', [group]);
    const apply = () =>
      fresh.persistence.genericPlanDb.transaction((tx) =>
        countRowsRead(tx, ['agent_inbox', 'activity'], () =>
          applyPendingEvents(tx, { id: batch!.id, isLarge: false }, new Date()),
        ),
      );
    await freshDb.query('delete from agent_inbox');
    await apply();
    await addDeliveries(freshDb);

    const { result, count } = await apply();

    expect(result.consumed).toBe(1);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(FEW);
  });

  it('is started by a plan from when nothing waited without reading all that waits', async () => {
    const claim = () =>
      fresh.persistence.genericPlanDb.transaction((tx) =>
        countRowsRead(tx, ['outbox'], () => claimCommands(tx, [], 1)),
      );
    await freshDb.query('delete from outbox');
    await claim();
    await freshDb.query(
      `insert into outbox (kind, key) select 'start', id::text from activity where parent_id is not null`,
    );

    const { result, count } = await claim();

    expect(result).toHaveLength(1);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(FEW);
  });
});

/** One for each operation. */
async function addDeliveries(db: Database): Promise<void> {
  await db.query(
    `insert into agent_inbox (lane_id, activity_id, kind, at)
     select lane_id, id, 'delivered', now() from activity where parent_id is not null`,
  );
}

async function readChildren(tx: Sql, { accountId }: TestAccount, group: number): Promise<unknown[]> {
  const found = await findTaggedActivity(tx, { accountId, ...SCOPE }, group, new Date());
  return found!.children;
}
