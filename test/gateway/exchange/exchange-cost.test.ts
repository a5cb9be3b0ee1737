import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionChange } from '../../../src/domain/agents/session.ts';
import { type SavedExchange, saveSessions } from '../../../src/persistence/agents/exchanges.sql.ts';
import { readOpenWork } from '../../../src/persistence/agents/intervals.sql.ts';
import { findEnded } from '../../../src/persistence/agents/sessions.sql.ts';
import { saveSnapsBeforeSent } from '../../../src/persistence/agents/snap-states.sql.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { aGroup, anAccount } from '../../support/activities/activity-rows.ts';
import { countRowsRead, createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const OTHERS = 20_000;
const BATCH = 1000;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

it('finds the messages that it sends by their keys, even where statistics know no pending one', async () => {
  const { db, genericPlanDb } = database.persistence;
  const [computer] = (await anAccount(db, { computers: 1 })).computers;
  await db.query(`insert into agent (computer_id, registration_digest) values ($1, '')`, [computer]);
  await addMessages(db, 1, OTHERS);
  await db.query(`update agent_message set state = 'acked'`);
  await db.query('analyze agent_message');
  const plans = await genericPlanDb.transaction(async (tx) => {
    const [message] = await addMessages(tx, OTHERS + 1, OTHERS + 1);
    expect((await send(tx, computer!, message!))!.sent).toEqual(new Set([message]));
    await saveSnapsBeforeSent(tx, [message!]);
    return [await keptPlan(tx, 'gateway-write-all'), await keptPlan(tx, 'gateway-snaps-before-sent')];
  });
  for (const plan of plans) {
    expect(plan).toContain('using agent_message_pkey');
    expect(plan).not.toContain('using agent_message_pending');
  }
});

it('reads pending results of its own operations, not of their batch, by plans from when there were none', async () => {
  const { db, genericPlanDb } = database.persistence;
  const account = await anAccount(db, { computers: BATCH });
  const group = await aGroup(db, account);
  const [own] = await sendAll(db, group);
  await db.query('vacuum analyze agent_inbox');
  const reads = [
    (tx: Sql) => saveSnapsBeforeSent(tx, [own!.id]),
    (tx: Sql) => findEnded(tx, [own!.id]),
    (tx: Sql) => readOpenWork(tx, own!.computer, new Date()),
  ];
  const readAll = async () => {
    const counts: number[] = [];
    for (const read of reads) {
      const { count } = await genericPlanDb.transaction((tx) =>
        countRowsRead<unknown>(tx, ['agent_inbox'], () => read(tx)),
      );
      counts.push(count);
    }
    return counts;
  };
  expect(await readAll()).toEqual([0, 0, 0]);
  await db.query(
    `insert into agent_inbox (lane_id, activity_id, kind, ok, at)
     select lane_id, id, 'result', true, now() from activity where parent_id = $1`,
    [group],
  );

  expect(await readAll()).toEqual([1, 1, 1]);
});

/** Queues messages of the operations `from` to `to`, each for the computer of the same number. */
async function addMessages(db: Sql, from: number, to: number): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at)
     select n, 1, n - $1::int + 1, 1, 'queued', now() from generate_series($1::int, $2::int) n returning activity_id as id`,
    [from, to],
  );
  return rows.map(({ id }) => id);
}

/** Of a group whose computers have a snap each, in the order of their ids. */
async function sendAll(db: Sql, group: number): Promise<Array<{ id: number; computer: number }>> {
  await db.query(
    `insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at, position)
     select id, lane_id, computer_id, payload_id, 'sent', now(), id from activity where parent_id = $1`,
    [group],
  );
  await db.query(
    `insert into computer_snap (computer_id, name, snap_id, version, revision)
     select computer_id, 'hello-world', '', '', '' from activity where parent_id = $1`,
    [group],
  );
  return db.query('select id, computer_id as computer from activity where parent_id = $1 order by id', [group]);
}

async function send(tx: Sql, computerId: number, activityId: number): Promise<SavedExchange | null> {
  const change: SessionChange = {
    ...{ inNext: 1, outBase: 0, outNext: 1, token: randomUUID(), requestDigest: null, controls: [], headTries: 0 },
    ...{ headSends: 0, clientTypesDigest: null, servedApproved: true, resyncWanted: false, resyncId: null },
    ...{ resyncAt: null, lastSequence: null, lastAddress: null, acked: [], resends: [], dropped: null, results: [] },
    sends: [{ activityId, position: 0, messageType: 'install-snaps' }],
  };
  const [saved] = await saveSessions(tx, [{ session: { computerId, version: 0 }, change, now: new Date() }]);
  return saved!;
}

/** The generic plan of a statement that this connection has prepared. */
async function keptPlan(tx: Sql, name: string): Promise<string> {
  const [prepared] = await tx.query<{ parameters: number }>(
    'select cardinality(parameter_types) as parameters from pg_prepared_statements where name = $1',
    [name],
  );
  const values = Array.from({ length: prepared!.parameters }, () => 'null').join(', ');
  const lines = await tx.query<{ 'QUERY PLAN': string }>(`explain execute "${name}" (${values})`);
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}
