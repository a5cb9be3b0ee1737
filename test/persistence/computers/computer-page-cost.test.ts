import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIELDS, JOINS, VISIBLE } from '../../../src/persistence/computers/computer-columns.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { costOf, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const PAGE = 50;
const COMPUTERS = 600;

let database: TestDatabase;
let db: Database;
let accountId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  // As in the first minute of a new server: nothing has been counted yet.
  for (const table of ['computer', 'computer_contact', 'access_group'])
    await db.query(`alter table ${table} set (autovacuum_enabled = off)`);
  accountId = (await createAccount(db, 'new')).accountId;
  await db.query(
    `with made as (
       insert into computer (account_id, access_group_id, state, title, registered_at)
       select $1, g.id, 'approved', 'new-' || n, now() from access_group g, generate_series(1, $2::int) n
       where g.account_id = $1 and g.name = 'global' returning id)
     insert into computer_contact (computer_id, known_since) select id, now() from made`,
    [accountId, COMPUTERS],
  );
  await db.query(
    `update computer set parent_id = id - 1 where account_id = $1 and id % 10 = 0
       and id > (select min(id) from computer where account_id = $1)`,
    [accountId],
  );
});
afterAll(() => database.drop());

/** Blocks that a page of so many computers touches. */
async function blocksOf(ids: readonly number[]): Promise<number> {
  const { blocks } = await costOf(
    db,
    `select row_to_json(shown) from unnest(:ids::int[]) page(id) join computer c on c.id = page.id ${JOINS}
     cross join lateral (select ${FIELDS}) shown where ${VISIBLE}`,
    { accountId, groups: null, ids },
  );
  return blocks;
}

describe('a page of computers before there are statistics', () => {
  it('looks parents and children up, and does not read the account once for each computer', async () => {
    const rows = await db.query<{ id: number }>('select id from computer where account_id = $1 order by id limit $2', [
      accountId,
      PAGE,
    ]);
    const blocks = await blocksOf(rows.map(({ id }) => id));
    // The page itself, its groups, contacts, parents and children by index: some blocks each.
    expect(blocks).toBeLessThan(PAGE * 20 + COMPUTERS);
  });
});
