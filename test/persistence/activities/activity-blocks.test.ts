import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { aGroup, anAccount, type TestAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { blocksOf, deleteEmptyBlocks } from '../../../src/persistence/activities/activity-retention.sql.ts';
import { blockPage, countActivities, type Counted } from '../../../src/persistence/activities/activity-pages.sql.ts';

let database: TestDatabase;
let db: Database;
let account: TestAccount;
let other: TestAccount;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  account = await anAccount(db, { computers: 20 });
  other = await anAccount(db, { computers: 3 });
});

afterAll(() => database.drop());

const KINDS: readonly Counted[] = ['activities', 'parents'];

/** Rows of two accounts with ids in many blocks, most of them with gaps. */
async function scatter(sql: Sql): Promise<void> {
  await sql.query(
    `insert into activity (id, account_id, parent_id, type, summary, status)
     select 100000 + k * 37, case when k % 5 = 0 then $2::int else $1::int end, case when k % 3 > 0 then 99999 end,
       'InstallSnaps', 'Install snap', 'succeeded'
     from generate_series(1, 3000) k`,
    [account.accountId, other.accountId],
  );
}

async function idsInOrder(sql: Sql, accountId: number, counted: Counted): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(
    `select id from activity where account_id = $1 ${counted === 'parents' ? 'and parent_id is null' : ''} order by id desc`,
    [accountId],
  );
  return rows.map(({ id }) => id);
}

async function pageOf(sql: Sql, accountId: number, counted: Counted, limit: number, offset: number): Promise<number[]> {
  return (await sql.query<{ id: number }>(blockPage(counted), { accountId, limit, offset })).map(({ id }) => id);
}

/** Count and pages of both accounts equal those of a plain look at the rows. */
async function expectAgreement(sql: Sql, offsets: readonly number[]): Promise<void> {
  for (const { accountId } of [account, other]) {
    for (const counted of KINDS) {
      const ids = await idsInOrder(sql, accountId, counted);
      expect(await countActivities(sql, accountId, counted)).toBe(ids.length);
      for (const offset of offsets) {
        expect(await pageOf(sql, accountId, counted, 50, offset)).toEqual(ids.slice(offset, offset + 50));
      }
    }
  }
}

describe('blocks of activities', () => {
  it('finds the page of any offset, at and beyond every edge of a block', async () => {
    await scatter(db);
    const offsets = Array.from({ length: 60 }, (_, i) => i * 43);
    await expectAgreement(db, [...offsets, 799, 800, 801, 2399, 2400, 2401, 1_000_000]);
  });

  it('follows what is removed, whole blocks and their last rows too', async () => {
    await db.query('delete from activity where id between 120000 and 150000 or id % 7 = 0');
    await expectAgreement(db, [0, 1, 500, 999, 1500]);
    await db.query('delete from activity where account_id = $1', [other.accountId]);
    await expectAgreement(db, [0, 700]);
  });

  it('counts nothing of a transaction that was rolled back', async () => {
    const before = await countActivities(db, account.accountId, 'activities');
    await expect(
      db.transaction(async (tx) => {
        await scatter(tx);
        throw new Error('no');
      }),
    ).rejects.toThrow();
    expect(await countActivities(db, account.accountId, 'activities')).toBe(before);
  });

  it('agrees with the rows at every moment while many add and remove', async () => {
    let writing = true;
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; i < 15; i++) {
        await aGroup(db, writer % 2 === 0 ? account : other);
        const victims = `select id from activity where account_id = $1 and lane_id is null order by id limit 40`;
        if (i % 3 === 0) await db.query(`delete from activity where id in (${victims})`, [account.accountId]);
      }
    };
    const look = async (): Promise<void> => {
      while (writing) {
        await db.transaction(async (tx) => {
          await tx.query('set transaction isolation level repeatable read');
          await expectAgreement(tx, [0, 30, 333]);
        });
      }
    };
    const writers = Promise.all([0, 1, 2, 3, 4, 5].map(write)).finally(() => {
      writing = false;
    });
    await Promise.all([writers, look(), look()]);
    await expectAgreement(db, [0, 30, 333]);
  });

  it('walks through all in pages that meet without a gap while newer ones arrive', async () => {
    await db.query(`select setval('activity_id_seq', max(id) + 10000) from activity`);
    const there = await idsInOrder(db, account.accountId, 'activities');
    const seen: number[] = [];
    for (let offset = 0; seen.at(-1) !== there.at(-1); offset += 100) {
      const before = await countActivities(db, account.accountId, 'activities');
      await aGroup(db, account, { computers: account.computers.slice(0, 2) });
      const added = (await countActivities(db, account.accountId, 'activities')) - before;
      expect(added).toBe(3);
      offset += added;
      seen.push(...(await pageOf(db, account.accountId, 'activities', 100, offset)));
    }
    expect(seen).toEqual(there);
  });

  it('are forgotten when nothing is left in them, unless somebody may be adding to them', async () => {
    const add = `insert into activity (id, account_id, type, summary, status) values ($2, $1, 'T', 's', 'succeeded')`;
    const [newest] = await db.query<{ block: number }>('select max(id) >> 12 as block from activity');
    const [empty, full, recent, top] = [200, 201, newest!.block + 400, newest!.block + 450];
    for (const block of [empty, full, recent, top]) await db.query(add, [account.accountId, block * 4096 + 1]);
    const removed = [empty * 4096 + 1, recent * 4096 + 1];
    const blocks = await blocksOf(db, removed);
    await db.query('delete from activity where id = any($1::int[])', [removed]);
    await deleteEmptyBlocks(db, [...blocks, { account_id: account.accountId, block: full }]);
    const kept = await db.query<{ block: number }>(
      'select block from activity_block where account_id = $1 and block = any($2::int[]) order by block',
      [account.accountId, [empty, full, recent, top]],
    );
    expect(kept.map(({ block }) => block)).toEqual([full, recent, top]);
    await expectAgreement(db, [0, 30]);
  });
});
