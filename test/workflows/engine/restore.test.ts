import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNKNOWN_OUTCOME } from '../../../src/persistence/activities/restore.sql.ts';
import { SESSION_LOCKS } from '../../../src/persistence/database/advisory-locks.ts';
import { aChain, aGroup } from '../../support/activities/activity-rows.ts';
import { createSqlFleet } from '../../support/activities/activity-runtime.ts';
import { createUsgWorld } from '../../support/compliance/usg.ts';
import { takeBackup } from '../../support/database/database.ts';
import { createScriptWorld } from '../../support/scripts/scripts.ts';
import { schedulesOf, until } from '../../support/temporal/workflow-environment.ts';
import { createRestoreWorld, type RestoreWorld } from './restore-world.ts';

/** A database restored to an older backup beside a Temporal server that knows more. @see docs/reliability.md#an-older-backup-is-restored */
let world: RestoreWorld;

beforeAll(async () => {
  world = await createRestoreWorld(60);
});

afterAll(async () => {
  await world?.close();
});

describe('a database restored to an older backup', () => {
  it('sends nothing again that a computer may have received, and later results count', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000);
    const [given, later] = [
      await world.fleet.act(),
      await world.fleet.act(world.fleet.computers.slice(0, 3), tomorrow),
    ];
    await until(async () => (await world.queued(given)) === 60 && (await world.queued(later)) === 3);
    await world.reconcile();
    const epochBefore = await world.epoch();
    const restore = await takeBackup(world.runtime.db);

    await world.fleet.deliver();
    const lost = await world.fleet.act(world.fleet.computers.slice(0, 2));
    await until(() => world.allAre(given, 'delivered'));
    await until(async () => (await world.queued(lost)) === 2);
    // Workflows without rows are found by what the server lists, which lags behind.
    const listed = `WorkflowId = 'activity/${lost}' AND ExecutionStatus = 'Running'`;
    await until(async () => (await world.runtime.client.workflow.count(listed)).count === 1);
    await world.reconcile();
    await restore();
    expect(await world.status(lost)).toBeUndefined();
    expect(await world.queued(given)).toBe(60);

    await world.reconcile();
    expect(await world.fleet.deliver()).toBe(0);
    await until(() => world.allAre(given, 'canceled'));
    expect((await world.children(given)).map(({ text }) => text)).toEqual(new Array(60).fill(UNKNOWN_OUTCOME));
    expect(await world.queued(later)).toBe(3);
    expect(await world.allAre(later, 'undelivered')).toBe(true);
    expect(await world.runtime.status(`activity/${lost}`)).toBe('TERMINATED');
    expect(await world.epoch()).toBeGreaterThan(epochBefore + 1_000_000);

    // One computer's result comes after all, and counts once.
    const [first] = await world.children(given);
    await world.runtime.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok, code, body)
       select lane_id, id, 'result', true, 0, 'done' from activity where id = $1`,
      [first!.id],
    );
    await until(async () => (await world.status(first!.id)) === 'succeeded');
    const next = await world.fleet.act([world.fleet.computers[0]!]);
    expect(next).toBeGreaterThan(lost + 100_000);
    await until(async () => {
      await world.fleet.deliver();
      await world.fleet.report();
      return (await world.status(next)) === 'succeeded';
    });
  });

  it('repairs once, and a database that lost nothing never', async () => {
    const before = await world.epoch();
    const id = await world.fleet.act(world.fleet.computers.slice(0, 4));
    await until(async () => (await world.queued(id)) === 4);
    for (let round = 0; round < 3; round += 1) await world.reconcile();
    expect(await world.epoch()).toBe(before);
    expect(await world.queued(id)).toBe(4);
    await world.fleet.deliver();
    await world.fleet.report();
    await until(() => world.allAre(id, 'succeeded'));
  });

  it('records it in the event log of each account', async () => {
    const rows = await world.runtime.db.query<{ message: string }>(
      `select message from event where account_id = $1 and person_name = 'Restore'`,
      [world.fleet.accountId],
    );
    expect(rows.map(({ message }) => message)).toEqual([
      'The database was restored from a backup: 60 operations of unknown outcome were ended',
    ]);
  });

  it('does not start runs again that may have started in the lost period', async () => {
    const clock = { now: () => new Date() };
    const usg = await createUsgWorld(world.runtime.db, clock);
    const scripts = await createScriptWorld(world.runtime.db, clock);
    const profile = await usg.create({ startDate: '2090-01-01' });
    const soon = new Date(Date.now() + 60_000);
    const script = await scripts.create({ type: 'one_time', timestamp: soon.toISOString() });
    await world.reconcile();
    const restore = await takeBackup(world.runtime.db);
    await world.reconcile();
    await restore();
    // The dates pass while nobody serves.
    const past = new Date(Date.now() - 300_000);
    await world.runtime.db.query(
      'update usg_profile set planned_dates = array[$2::timestamptz] || planned_dates where id = $1',
      [profile, past],
    );
    await world.runtime.db.query('update script_profile set due_at = $2 where id = $1', [script.id, past]);

    await world.reconcile();
    expect(await usg.runs(profile)).toEqual([]);
    expect(await scripts.runs(script.id)).toEqual([]);
    await world.reconcile();
    expect(await usg.runs(profile)).toEqual([]);
    expect(await scripts.runs(script.id)).toEqual([]);
    const rows = await world.runtime.db.query<{ message: string }>(
      `select message from event where message like 'Left out the run of the %' order by message`,
    );
    expect(rows.map(({ message }) => message.replace(/ that was due.*/, ''))).toEqual([
      expect.stringContaining('USG profile Weekly baseline'),
      expect.stringContaining('script profile Profile 1'),
    ]);
  });

  it.each([
    ['the database', () => world.runtime.db.query('update reconciler_mark set mark = mark - 600000')],
    [
      'the server',
      async () => {
        world.alterCursor((cursor) => ({ ...cursor, mark: cursor.mark! - 600_000 }));
      },
    ],
  ])('makes schedules follow their profiles again where %s is older', async (_, age) => {
    const scripts = await createScriptWorld(world.runtime.db, { now: () => new Date() });
    const { handle, exists, schedulesSynced } = schedulesOf(() => world.runtime, 'script');
    const { id } = await scripts.create({
      type: 'recurring',
      interval: '30 2 * * *',
      startAfter: '2026-01-01T00:00:00Z',
    });
    await until(() => exists(id));
    await schedulesSynced();
    await world.runtime.db.query(`update script_profile set last_edited_at = now() - interval '1 hour' where id = $1`, [
      id,
    ]);
    const hours = async () => (await handle(id).describe()).info.nextActionTimes.map((at) => at.getUTCHours());
    await handle(id).update((known) => ({ ...known, spec: { calendars: [{ hour: 7 }] } }));
    await world.reconcile();
    await schedulesSynced();
    expect(await hours()).toContain(7);
    await age();
    await world.reconcile();
    await until(async () => !(await hours()).includes(7));
    expect(await hours()).toContain(2);
  });

  it('continues a chain whose first operation has ended', async () => {
    const own = await createSqlFleet(world.runtime.db, 2);
    const account = { accountId: own.accountId, groupId: 0, computers: own.computers };
    const chain = await aGroup(world.runtime.db, account, { operations: aChain(2, 86_400) });
    await until(async () => (await world.queued(chain)) === 2);
    await own.deliver();
    await own.report();
    const halfway = ['succeeded', 'undelivered', 'succeeded', 'undelivered'];
    const statuses = async () => (await world.children(chain)).map((child) => child.status);
    await until(async () => (await statuses()).join() === halfway.join());
    const batches = await world.runtime.db.query<{ wf_id: string }>('select wf_id from lane where parent_id = $1', [
      chain,
    ]);
    for (const { wf_id: id } of batches) {
      const listed = `WorkflowId = '${id}' AND ExecutionStatus = 'Running'`;
      await until(async () => (await world.runtime.client.workflow.count(listed)).count === 1);
    }

    await world.reconcile();
    const restore = await takeBackup(world.runtime.db);
    await world.reconcile();
    const before = await world.epoch();
    await restore();
    await world.reconcile();
    expect(await world.epoch()).toBeGreaterThan(before);
    for (const { wf_id: id } of batches) expect(await world.runtime.status(id)).toBe('RUNNING');
    await world.reconcile();
    expect(await statuses()).toEqual(halfway);
  });

  it('is repaired by one process at a time', async () => {
    await world.reconcile();
    const restore = await takeBackup(world.runtime.db);
    await world.reconcile();
    await restore();
    const before = await world.epoch();
    const connection = await world.runtime.db.connect();
    try {
      await connection.query('select pg_advisory_lock($1)', [SESSION_LOCKS.repair]);
      await expect(world.reconcile()).rejects.toThrow('in progress');
      expect(await world.epoch()).toBe(before);
      await connection.query('select pg_advisory_unlock($1)', [SESSION_LOCKS.repair]);
    } finally {
      connection.release();
    }
    await world.reconcile();
    expect(await world.epoch()).toBeGreaterThan(before);
  });
});
