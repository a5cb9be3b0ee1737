import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { generateActivities } from '../../../tools/bench/data/activities.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { computersIn } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const ACTIVITIES = 4000;

async function generated(seed: number): Promise<{ database: TestDatabase; db: Sql; accountId: number }> {
  const database = await createTestDatabase();
  const { db } = database.persistence;
  const { accountId } = await createAccount(db, 'fleet');
  const [group] = await db.query<{ id: number }>('select id from access_group where account_id = $1', [accountId]);
  await computersIn(db, { accountId, groupId: group!.id }, 300);
  await generateActivities(db, { accountId, activities: ACTIVITIES, seed, now: NOW });
  return { database, db, accountId };
}

async function digests(db: Sql): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const table of ['activity', 'lane', 'agent_message', 'operation_payload', 'outbox']) {
    found.push(
      ...(await db.query(
        `select '${table}' as name, md5(string_agg(t::text, chr(10) order by t::text)) from ${table} t`,
      )),
    );
  }
  return found;
}

describe('generateActivities', () => {
  let first: Awaited<ReturnType<typeof generated>>;

  beforeAll(async () => {
    first = await generated(7);
  });

  afterAll(() => first.database.drop());

  it('gives equal rows for an equal seed and others for another', async () => {
    const [again, other] = [await generated(7), await generated(8)];
    try {
      const expected = await digests(first.db);
      expect(await digests(again.db)).toEqual(expected);
      expect(await digests(other.db)).not.toEqual(expected);
    } finally {
      await again.database.drop();
      await other.database.drop();
    }
  });

  it('makes exactly as many rows as requested, older ones with smaller ids', async () => {
    const [row] = await first.db.query(
      `select count(*) as rows, max(id) - min(id) + 1 as span,
         count(*) filter (where creation_time < before) as disordered, max(creation_time) <= $1 as past
       from (select id, creation_time, lag(creation_time) over (order by id) as before from activity) a`,
      [NOW],
    );
    expect(row).toEqual({ rows: ACTIVITIES, span: ACTIVITIES, disordered: 0, past: true });
  });

  it('has in every group and batch the counts of its operations', async () => {
    const counts = (alias: string) => `count(${alias}.id) as size,
      count(*) filter (where ${alias}.status in ('undelivered', 'delivered')) as open,
      count(*) filter (where ${alias}.status = 'succeeded') as succeeded,
      count(*) filter (where ${alias}.status = 'failed') as failed, count(*) filter (where ${alias}.status = 'canceled') as canceled`;
    const wrong = await first.db.query(
      `select p.id from activity p join lateral (select ${counts('k')} from activity k where k.parent_id = p.id) s on true
       where p.computer_id is null and (p.children_count, p.open_count, p.succeeded_count, p.failed_count, p.canceled_count)
         is distinct from (s.size, s.open, s.succeeded, s.failed, s.canceled)
       union all
       select l.id from lane l join lateral (select ${counts('k')} from activity k where k.lane_id = l.id) s on true
       where (l.size, l.open_count, l.succeeded_count, l.failed_count, l.canceled_count)
         is distinct from (s.size, s.open, s.succeeded, s.failed, s.canceled) or (l.closed_at is null) <> (s.open > 0)`,
    );
    expect(wrong).toEqual([]);
  });

  it('gives each operation one computer of the group, a message in the state that fits, and a payload', async () => {
    const wrong = await first.db.query(
      `select a.id, a.status, m.state from activity a
         left join agent_message m on m.activity_id = a.id left join operation_payload o on o.id = a.payload_id
       where a.computer_id is not null and (o.id is null or m.state is distinct from (array['queued', 'sent', 'withdrawn', 'acked',
         'acked'])[array_position(array['undelivered', 'delivered', 'canceled', 'succeeded', 'failed'], a.status)])`,
    );
    const twice = await first.db.query(
      'select parent_id from activity where parent_id is not null group by parent_id, computer_id having count(*) > 1',
    );
    expect([wrong, twice]).toEqual([[], []]);
  });

  it('starts workflows for what is open, and for nothing else', async () => {
    const [row] = await first.db.query(
      `select array(select key::int from outbox order by 1)
         = array(select distinct coalesce(parent_id, id) from activity where status in ('undelivered', 'delivered')
             and computer_id is not null order by 1) as agrees, (select count(*) from outbox) > 0 as open`,
    );
    expect(row).toEqual({ agrees: true, open: true });
  });
});
