import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SessionChange } from '../../../src/domain/agents/session.ts';
import { type SavedExchange, saveSessions } from '../../../src/persistence/agents/exchanges.sql.ts';
import { saveSnapsBeforeSent } from '../../../src/persistence/agents/snap-states.sql.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { anAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const OTHERS = 20_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

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

/** Queues messages of the operations `from` to `to`, each for the computer of the same number. */
async function addMessages(db: Sql, from: number, to: number): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at)
     select n, 1, n - $1::int + 1, 1, 'queued', now() from generate_series($1::int, $2::int) n returning activity_id as id`,
    [from, to],
  );
  return rows.map(({ id }) => id);
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
