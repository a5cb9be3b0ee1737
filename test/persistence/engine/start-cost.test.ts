import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTaggedActivity } from '../../../src/persistence/activities/activity-tags.sql.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { readOpenBatches } from '../../../src/persistence/engine/batches.sql.ts';
import { readStartableActivities, readStartableBatches } from '../../../src/persistence/engine/startable.sql.ts';
import { aGroup, anAccount, type TestAccount } from '../../support/activities/activity-rows.ts';
import { countRowsRead, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const COMPUTERS = 2_000;
const LARGE_GROUPS = 5;
/** Activities that a statement about one of them may read. */
const FEW = 20;

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
  const scope = { view: 'all', manage: 'all', execute: 'all', usgProfiles: 'all', scriptProfiles: 'all' } as const;

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

  async function readIt(tx: Sql): Promise<unknown[]> {
    const found = await findTaggedActivity(tx, { accountId: account.accountId, ...scope }, group, new Date());
    return found!.children;
  }
});
