import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listChildren } from '../../../src/persistence/activities/activities.sql.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { ONLY_LATER } from '../../../src/persistence/query/activity-fields.ts';
import { scopeParameters, VISIBLE } from '../../../src/persistence/query/activity-visibility.ts';
import { anAccount } from '../../support/activities/activity-rows.ts';
import { costOf, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

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
  it('reads of each group as many children as it takes to find one', async () => {
    const scope = {
      accountId,
      view: [seen],
      manage: [seen],
      execute: [seen],
      usgProfiles: [seen],
      scriptProfiles: [seen],
    };
    const { rows, blocks } = await costOf(
      db,
      `select a.id from activity a where ${VISIBLE} and a.parent_id is null`,
      scopeParameters(scope),
    );
    expect(rows).toBe(PARENTS);
    // Each parent, its index of children and the first of them: some blocks. Reading all children takes a hundred times as many.
    expect(blocks).toBeLessThan(PARENTS * 12);
  });
});

describe('the operations of large groups', () => {
  it('are joined to their computers by an index or a hash, not each with each', async () => {
    const parents = await db.query<{ id: number }>(
      'select id from activity where account_id = $1 and parent_id is null',
      [accountId],
    );
    const scope = {
      accountId,
      view: 'all',
      manage: 'all',
      execute: 'all',
      usgProfiles: 'all',
      scriptProfiles: 'all',
    } as const;
    const costs: Awaited<ReturnType<typeof costOf>>[] = [];
    const explained: Sql = {
      ...db,
      async query(text: string, values: object) {
        costs.push(await costOf(db, text, values));
        return [];
      },
    };
    await listChildren(
      explained,
      scope,
      parents.map(({ id }) => id),
      null,
      new Date(),
    );
    expect(costs.map(({ rows }) => rows)).toEqual([PARENTS * CHILDREN]);
    expect(costs[0]!.mismatches).toBeLessThan(PARENTS * CHILDREN);
  });
});

describe('how a group with a window is read', () => {
  it('reads none of its operations unless the account has a bound, and then until one is free to go', async () => {
    const account = await anAccount(db, { computers: CHILDREN });
    const now = new Date();
    await db.query(GROUPS_IN_WINDOW, [account.accountId, CHILDREN, PARENTS, now]);
    await db.query('analyze activity');
    const text = `select ${ONLY_LATER} as later from activity a
      where a.account_id = :accountId and a.parent_id is null`;
    const values = { accountId: account.accountId, now };
    const before = await costOf(db, text, values);
    expect(before.rows).toBe(PARENTS);
    expect(before.blocks).toBeLessThan(PARENTS * 4);
    await db.query('update account set max_message_backlog = 1 where id = $1', [account.accountId]);
    // Every tenth operation is due: some blocks each. Reading all of them takes many times as much.
    expect((await costOf(db, text, values)).blocks).toBeLessThan(PARENTS * 120);
    expect(await db.query(text, values)).toEqual(Array.from({ length: PARENTS }, () => ({ later: false })));
  });
});

const GROUPS_IN_WINDOW = `
  with parent as (
    insert into activity (account_id, type, summary, status, creation_time, deliver_at, deliver_delay_window,
      children_count)
    select $1, 'ActivityGroup', 'Install snaps', 'undelivered', $4::timestamptz, $4::timestamptz, 60, $2
    from generate_series(1, $3::int) returning id)
  insert into activity (account_id, parent_id, computer_id, type, summary, status, creation_time, deliver_at,
    deliver_delay_window)
  select $1, p.id, c.id, 'InstallSnaps', 'Install snaps', 'undelivered', $4::timestamptz,
    case when c.place % 10 = 0 then $4::timestamptz else $4::timestamptz + interval '30 minutes' end, 60
  from parent p cross join (
    select id, row_number() over (order by id) as place from computer where account_id = $1) c
  order by p.id, c.id`;
