import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createGroup,
  createGroups,
  type GroupPlan,
} from '../../../src/persistence/activities/activity-creation.repository.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { aChain, anAccount, SETTINGS, type TestAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const NOW = new Date('2026-05-04T02:11:00Z');

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());

const aPlan = ({ accountId, computers }: TestAccount, count: number, over: Partial<GroupPlan> = {}): GroupPlan => ({
  accountId,
  creatorId: null,
  type: 'ActivityGroup',
  summary: 'Install snap hello',
  now: NOW,
  deliverAfter: null,
  windowMinutes: 0,
  computers: computers.slice(0, count),
  operations: aChain(1),
  ...over,
});

async function* each(plans: readonly GroupPlan[]) {
  yield* plans;
}

const createAll = (plans: readonly GroupPlan[], settings = SETTINGS) =>
  db.transaction((tx) => createGroups(tx, each(plans), settings));

/** Its rows, with ids relative to its own. */
async function rowsOf(group: number) {
  const relative = (row: Record<string, unknown>, from: Record<string, number>) => {
    const known = Object.entries(row).map(([name, value]) => {
      return [name, typeof value === 'number' && name in from ? value - from[name]! : value];
    });
    return Object.fromEntries(known);
  };
  const activities = await db.query<Record<string, number>>(
    'select * from activity where id = $1 or parent_id = $1 order by id',
    [group],
  );
  const batches = await db.query<Record<string, number>>('select * from lane where parent_id = $1 order by ordinal', [
    group,
  ]);
  const payloads = await db.query<Record<string, number>>(
    'select * from operation_payload where id = any($1) order by id',
    [[...new Set(activities.map(({ payload_id }) => payload_id))]],
  );
  const commands = await db.query<Record<string, number>>('select * from outbox where key = $1', [String(group)]);
  const ids = { id: group, parent_id: group, blocked_by: group, payload_id: payloads[0]?.['id'] ?? 0 };
  const batch = batches[0]?.['id'] ?? 0;
  return {
    activities: activities.map((row) => relative(row, { ...ids, lane_id: batch })),
    batches: batches.map((row) => ({
      ...relative(row, { id: batch, parent_id: group }),
      wf_id: String(row['wf_id']).replace(/\d+$/, (id) => String(Number(id) - group)),
    })),
    payloads: payloads.map((row) => relative(row, { id: payloads[0]!['id']! })),
    commands: commands.map(({ id: _, key: __, ...row }) => row),
  };
}

describe('small groups made together', () => {
  it.each([
    ['one computer', 1, 1],
    ['several computers', 3, 1],
    ['a chain on one computer', 1, 3],
    ['a chain on several computers', 3, 2],
  ])('have the rows of one made alone: %s', async (_, computers, steps) => {
    const account = await anAccount(db, { computers });
    const plan = aPlan(account, computers, {
      operations: aChain(steps, 90),
      parameters: { operation: 'test' },
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    const alone = await db.transaction((tx) => createGroup(tx, plan, SETTINGS));
    const [together] = await createAll([plan]);
    expect(await rowsOf(together!)).toEqual(await rowsOf(alone));
  });

  it('are of many accounts and sizes, each as if alone, with messages queued for the first steps', async () => {
    const accounts = [await anAccount(db, { computers: 30 }), await anAccount(db, { computers: 2 })];
    const plans = [
      aPlan(accounts[0]!, 2, { operations: aChain(2) }),
      aPlan(accounts[0]!, 30, { summary: 'Large' }),
      aPlan(accounts[0]!, 1, { windowMinutes: 5 }),
      aPlan(accounts[0]!, 0, { operations: [] }),
      aPlan(accounts[1]!, 2),
    ];
    const ids = await createAll(plans);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    for (const [n, plan] of plans.entries()) {
      const { activities, batches, commands } = await rowsOf(ids[n]!);
      expect(activities).toHaveLength(1 + plan.computers.length * plan.operations.length);
      expect(activities[0]).toMatchObject({
        account_id: plan.accountId,
        status: plan.computers.length === 0 ? 'succeeded' : 'undelivered',
        completion_time: plan.computers.length === 0 ? NOW : null,
        open_count: plan.computers.length * plan.operations.length,
      });
      expect(batches.map(({ opened_at }) => opened_at).filter((at) => at !== null)).toEqual([]);
      expect(commands).toHaveLength(1);
      const queued = await db.query(
        `select m.state from agent_message m join activity a on a.id = m.activity_id where a.parent_id = $1`,
        [ids[n]!],
      );
      expect(queued).toHaveLength(n === 0 || n === 4 ? 2 : 0);
    }
  });

  it('leave no trace when one of them cannot be made', async () => {
    const account = await anAccount(db, { computers: 1 });
    const plans = [aPlan(account, 1), aPlan(account, 1, { summary: null as never })];
    const before = await db.query('select count(*) from activity');
    await expect(createAll(plans)).rejects.toThrow();
    expect(await db.query('select count(*) from activity')).toEqual(before);
  });
});
