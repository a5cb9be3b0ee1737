import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseActivityWorkflowId } from '../../../src/domain/activities/workflow-id.ts';
import { batchSize, createPerComputerGroup } from '../../../src/persistence/activities/activity-creation.repository.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { aChain, aGroup, anAccount, childrenOf, SETTINGS } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database.drop());

/** Counts the statements of every transaction. */
function counting(): { db: Database; statements(): number } {
  let statements = 0;
  return {
    statements: () => statements,
    db: {
      ...db,
      transaction: (work) =>
        db.transaction((tx) =>
          work({
            ...tx,
            query: (text, values, name) => {
              statements++;
              return tx.query(text, values, name);
            },
          }),
        ),
    },
  };
}

type Row = Record<string, unknown>;

/** Everything written for a group, ids counted from its own. */
async function rowsOf(group: number): Promise<{ parent: Row; batches: Row[]; children: Row[] }> {
  const read = async (text: string) => (await db.query<{ row: Row }>(text, [group])).map(({ row }) => row);
  const [parent] = await read(`select to_jsonb(a) - 'id' as row from activity a where a.id = $1`);
  const batches = await read(
    `select to_jsonb(l) - 'id' - 'parent_id' || jsonb_build_object('wf_id', replace(l.wf_id, $1::int::text, '')) as row
     from lane l where l.parent_id = $1 order by l.ordinal`,
  );
  const children = await read(
    `select to_jsonb(a) - 'parent_id' - 'payload_id'
       || jsonb_build_object('id', a.id - $1, 'lane_id', l.ordinal, 'message', p.fields) as row
     from activity a join lane l on l.id = a.lane_id join operation_payload p on p.id = a.payload_id
     where a.parent_id = $1 order by a.id`,
  );
  return { parent: parent!, batches, children };
}

describe('creating a group', () => {
  it('takes the same few statements for 1 computer and for 10,000', async () => {
    const account = await anAccount(db, { computers: 10_000 });
    const one = counting();
    await aGroup(one.db, account, { computers: account.computers.slice(0, 1) });
    const many = counting();
    const group = await aGroup(many.db, account);
    expect(many.statements()).toBe(one.statements());
    expect(many.statements()).toBeLessThanOrEqual(5);
    const [row] = await db.query(
      `select p.children_count, p.computer_count, p.open_count, count(*) as children,
         count(distinct c.computer_id) as computers, count(distinct c.payload_id) as payloads,
         count(distinct c.lane_id) as batches
       from activity p join activity c on c.parent_id = p.id where p.id = $1 group by p.id`,
      [group],
    );
    const all = 10_000;
    expect(row).toEqual({
      children_count: all,
      computer_count: all,
      open_count: all,
      children: all,
      computers: all,
      payloads: 1,
      batches: 10,
    });
  });

  it('gives each of up to 25 computers a batch named after its first operation', async () => {
    const account = await anAccount(db, { computers: 25 });
    const group = await aGroup(db, account, { operations: aChain(2) });
    const batches = await db.query<{ wf_id: string; single: boolean; size: number; summary: string; first: number }>(
      `select l.wf_id, l.single, l.size, l.summary, min(a.id) as first
       from lane l join activity a on a.lane_id = l.id where l.parent_id = $1 group by l.id order by l.ordinal`,
      [group],
    );
    expect(batches).toHaveLength(25);
    expect(batches[3]!.summary).toBe('Install snap hello on web-4');
    for (const batch of batches) {
      expect(batch).toMatchObject({ single: true, size: 2 });
      expect(parseActivityWorkflowId(batch.wf_id)).toBe(batch.first);
    }
  });

  it('gives more computers batches named after the group', async () => {
    const account = await anAccount(db, { computers: 26 });
    const group = await aGroup(db, account);
    const batches = await db.query('select wf_id, single, size, open_count from lane where parent_id = $1', [group]);
    expect(batches).toEqual([{ wf_id: `activity/${group}/lane/1`, single: false, size: 26, open_count: 26 }]);
  });

  it.each([
    { requested: 'at once', deliverAfter: null, answerSeconds: null },
    { requested: 'for later', deliverAfter: new Date('2030-01-01T00:00:00Z'), answerSeconds: 90 },
  ])('writes the same rows $requested as when each computer has an operation of its own', async (given) => {
    const { deliverAfter, answerSeconds } = given;
    const account = await anAccount(db, { computers: 1234 });
    const message = { type: 'install-snaps', fields: {}, answerSeconds };
    const operation = { type: 'InstallSnaps', summary: 'Install snap hello', message };
    const plan = { now: new Date(), deliverAfter, parameters: { operation: 'snaps' }, reappliedFrom: 7 };
    const uniform = await aGroup(db, account, { ...plan, operations: [operation] });
    const created = await db.transaction((tx) =>
      createPerComputerGroup(
        tx,
        {
          accountId: account.accountId,
          creatorId: null,
          type: 'ActivityGroup',
          summary: 'Install snaps on computer',
          windowMinutes: 0,
          computers: account.computers,
          messages: [message],
          operations: account.computers.map((_, place) => ({
            ...{ place, link: 0, after: null, delaySeconds: 0, message: 0, origin: 0 },
            ...{ type: operation.type, summary: operation.summary },
          })),
          ...plan,
        },
        SETTINGS,
      ),
    );
    const rows = await rowsOf(uniform);
    expect(rows.batches.map(({ size }) => size)).toEqual([500, 500, 234]);
    expect(rows.batches[2]).toMatchObject({ summary: 'computers 1,001-1,234 of 1,234', answer_seconds: answerSeconds });
    expect(rows.children.map(({ computer_id: id }) => id)).toEqual(account.computers);
    const { children, ...others } = await rowsOf(created);
    expect(rows).toEqual({ ...others, children: children.map((child) => ({ ...child, reapplied_from: null })) });
  });

  it('sizes batches between their bounds', () => {
    expect([26, 5000, 5001, 12_345, 100_000].map((n) => batchSize(n, SETTINGS))).toEqual([500, 500, 501, 1235, 5000]);
  });

  it('makes no more than a thousand batches, however small the settings want them', () => {
    const tiny = { singleBatchLimit: 0, batchMinSize: 1, batchMaxSize: 3 };
    expect([30, 3000, 3001, 100_000, 200_001].map((n) => batchSize(n, tiny))).toEqual([3, 3, 4, 100, 201]);
    for (const n of [1, 999, 1001, 3001, 99_999, 100_000]) {
      expect(Math.ceil(n / batchSize(n, { ...tiny, batchMaxSize: 1 }))).toBeLessThanOrEqual(1000);
    }
  });

  it('makes every step of a chain wait for the one before on the same computer', async () => {
    const account = await anAccount(db, { computers: 3 });
    const group = await aGroup(db, account, { operations: aChain(3) });
    const children = await childrenOf(db, group);
    children.forEach((child, index) => {
      const before = index % 3 === 0 ? null : children[index - 1]!;
      expect(child).toMatchObject({ status: before ? 'waiting' : 'undelivered', blocked_by: before?.id ?? null });
      if (before) expect(child.computer_id).toBe(before.computer_id);
    });
    const batches = await db.query('select has_dependents from lane where parent_id = $1', [group]);
    expect(batches).toEqual(Array.from({ length: 3 }, () => ({ has_dependents: true })));
  });

  it('draws a moment of its own inside the window for every computer', async () => {
    const account = await anAccount(db, { computers: 400 });
    const deliverAfter = new Date('2030-01-01T00:00:00Z');
    const group = await aGroup(db, account, { deliverAfter, windowMinutes: 60 });
    const moments = (await childrenOf(db, group)).map((child) => child.deliver_at!.getTime() - deliverAfter.getTime());
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...moments)).toBeLessThanOrEqual(3_600_000);
    expect(new Set(moments).size).toBeGreaterThan(350);
    const mean = moments.reduce((sum, moment) => sum + moment, 0) / moments.length;
    expect(Math.abs(mean - 1_800_000)).toBeLessThan(300_000);
  });

  it('stores nothing when its transaction fails', async () => {
    const account = await anAccount(db, { computers: 2 });
    await expect(aGroup(db, account, { summary: null as unknown as string })).rejects.toThrow();
    for (const table of ['activity', 'lane', 'operation_payload']) {
      expect(await db.query(`select from ${table} where account_id = $1`, [account.accountId])).toEqual([]);
    }
  });

  it('adds its start command and wakes the outbox dispatcher at the commit', async () => {
    const listener = await db.connect();
    try {
      const heard = new Promise((resolve) => listener.once('notification', resolve));
      await listener.query('listen flotilla_outbox');
      const group = await aGroup(db, await anAccount(db), { traceparent: '00-aa-bb-01' });
      expect(await heard).toMatchObject({ channel: 'flotilla_outbox' });
      const commands = await db.query('select kind, traceparent from outbox where key = $1', [String(group)]);
      expect(commands).toEqual([{ kind: 'start', traceparent: '00-aa-bb-01' }]);
    } finally {
      listener.release();
    }
  });
});
