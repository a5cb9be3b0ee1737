import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seenBy, VISIBLE } from '../../src/persistence/query/activity-visibility.ts';
import type { Database } from '../../src/persistence/sql.ts';
import { anAccount } from '../support/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { costOf } from '../support/query-plan.ts';

const PARENTS = 30;
const CHILDREN = 400;

let database: TestDatabase;
let db: Database;
let accountId: number;
let seen: number;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  const account = await anAccount(db, { computers: CHILDREN });
  accountId = account.accountId;
  const [group] = await db.query<{ id: number }>(
    `insert into access_group (account_id, name, title, parent_id) values ($1, 'seen', 'Seen', $2) returning id`,
    [accountId, account.groupId],
  );
  seen = group!.id;
  await db.query('update computer set access_group_id = $2 where account_id = $1 and id % 4 = 0', [accountId, seen]);
  await db.query(
    `with parent as (
       insert into activity (account_id, type, summary, status, creation_time, children_count)
       select $1, 'ActivityGroup', 'Install snaps', 'succeeded', now(), $2 from generate_series(1, $3::int) returning id)
     insert into activity (account_id, parent_id, computer_id, type, summary, status, creation_time, children_count)
     select $1, p.id, c.id, 'InstallSnaps', 'Install snaps', 'succeeded', now(), 0
     from parent p cross join computer c where c.account_id = $1 order by p.id, c.id`,
    [accountId, CHILDREN, PARENTS],
  );
  await db.query('analyze activity');
});
afterAll(() => database?.drop());

describe('a list of groups for somebody who sees some access groups', () => {
  it('asks of each group as many children as it takes to find one', async () => {
    const scope = { accountId, view: [seen], manage: [seen], profiles: [seen] };
    const { rows, blocks } = await costOf(
      db,
      `select a.id from activity a where ${VISIBLE} and a.parent_id is null`,
      seenBy(scope),
    );
    expect(rows).toBe(PARENTS);
    // Each parent, its index of children and the first of them: some blocks. Reading all children takes a hundred times as many.
    expect(blocks).toBeLessThan(PARENTS * 12);
  });
});
