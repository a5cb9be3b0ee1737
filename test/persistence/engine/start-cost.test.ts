import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTaggedActivity } from '../../../src/persistence/activities/activity-tags.sql.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { readOpenBatches } from '../../../src/persistence/engine/batches.sql.ts';
import { addCancel, readBatchesWithEvents } from '../../../src/persistence/engine/pending-events.sql.ts';
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
    for (const table of ['activity', 'lane'])
      await freshDb.query(`alter table ${table} set (autovacuum_enabled = false)`);
    newAccount = await anAccount(freshDb, { computers: COMPUTERS });
    group = await aGroup(freshDb, { ...newAccount, computers: newAccount.computers.slice(0, 1) });
  });
  afterAll(() => fresh.drop());

  it('is read by a plan from when it was alone without reading those after it', async () => {
    const { genericPlanDb } = fresh.persistence;
    const countRead = () =>
      genericPlanDb.transaction((tx) => countRowsRead(tx, ['activity'], () => readChildren(tx, newAccount, group)));
    await countRead();
    await aGroup(freshDb, newAccount);

    const { result, count } = await countRead();

    expect(result).toHaveLength(1);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(FEW);
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
});

async function readChildren(tx: Sql, { accountId }: TestAccount, group: number): Promise<unknown[]> {
  const found = await findTaggedActivity(tx, { accountId, ...SCOPE }, group, new Date());
  return found!.children;
}
