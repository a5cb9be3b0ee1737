import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { MIGRATIONS } from '../../../src/persistence/orm/migrations/index.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { planMigrations } from '../../released/migration-rules.ts';
import { addEvent, aGroup, anAccount, childrenOf, TestClock } from '../../support/activities/activity-rows.ts';
import { anAuditedRun } from '../../support/compliance/usg.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;
let engine: Engine;
const clock = new TestClock();

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  engine = createEngine({ ...database.persistence, clock, settings: { expiryDays: 30 } });
});
afterAll(() => database?.drop());

/** Makes groups and audits of the previous build read as all others. */
async function correct(): Promise<void> {
  const name = MIGRATIONS.find((one) => one.name.endsWith('CanceledResults'))!.name;
  const plan = (await planMigrations()).find((one) => one.name === name)!;
  for (const statement of plan.statements) await db.query(statement);
}

type End = 'open' | 'delivered' | 'succeeded' | 'failed' | 'canceled';

async function aGroupOf(...ends: readonly End[]): Promise<number> {
  const account = await anAccount(db, { computers: ends.length });
  const group = await aGroup(db, account, { now: clock.now() });
  for (const [index, { id, lane_id: batch }] of (await childrenOf(db, group)).entries()) {
    await engine.processPendingEvents(batch, false);
    const event = { batch, activity: id, at: clock.now() };
    const end = ends[index]!;
    if (end === 'canceled') await addEvent(db, { ...event, kind: 'cancel' });
    else if (end === 'delivered') await addEvent(db, { ...event, kind: 'delivered' });
    else if (end !== 'open') await addEvent(db, { ...event, kind: 'result', ok: end === 'succeeded' });
    await engine.processPendingEvents(batch, false);
  }
  return group;
}

const read = async (group: number) =>
  (await db.query('select status, delivery_time is not null as started from activity where id = $1', [group]))[0];
const write = (group: number, status: string, started: boolean) =>
  db.query('update activity set status = $2, delivery_time = case when $3 then now() end where id = $1', [
    group,
    status,
    started,
  ]);

describe('what an earlier build left', () => {
  it.each([
    [['succeeded', 'canceled'], 'succeeded', 'canceled', true],
    [['open', 'canceled'], 'delivered', 'undelivered', false],
    [['canceled', 'canceled'], 'canceled', 'canceled', false],
    [['delivered', 'canceled'], 'delivered', 'delivered', true],
    [['succeeded', 'canceled', 'open'], 'delivered', 'delivered', true],
    [['failed', 'canceled'], 'failed', 'failed', true],
    [['succeeded', 'succeeded'], 'succeeded', 'succeeded', true],
  ] as const)('of a group whose operations are %j, %s, reads %s', async (ends, before, after, started) => {
    const group = await aGroupOf(...ends);
    expect(await read(group)).toEqual({ status: after, started });
    await write(group, before, true);
    await correct();
    expect(await read(group)).toEqual({ status: after, started });
  });

  it('keeps a group unapproved that waits for approval', async () => {
    const group = await aGroupOf('canceled', 'open');
    await db.query(`update activity set status = 'unapproved' where parent_id = $1 and status = 'undelivered'`, [
      group,
    ]);
    await write(group, 'delivered', true);
    await correct();
    expect(await read(group)).toEqual({ status: 'unapproved', started: false });
  });

  it('of a canceled audit is no failure, and that of others stays', async () => {
    const run = await anAuditedRun({ db, engine: engine, clock }, 'audit', 4);
    await run.notify(0, 0, 'delivered');
    await run.notify(0, 0, 'cancel');
    await run.notify(1, 0, 'result', false);
    await run.notify(2, 0, 'cancel');
    await db.query(`update usg_audit set state = 'fail' where computer_id = $1`, [run.computers[0]]);
    await db.query('update usg_run set failing_count = 2, not_started_count = 2 where profile_id = $1', [run.profile]);
    await correct();
    expect(await run.results()).toMatchObject({ not_started: 3, failing: 1, passing: 0, in_progress: 0 });
    expect((await run.audits()).map(({ state }) => state)).toEqual([
      'not-started',
      'fail',
      'not-started',
      'not-started',
    ]);
    await correct();
    expect(await run.results()).toMatchObject({ not_started: 3, failing: 1 });
  });
});
