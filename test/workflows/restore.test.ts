import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SESSION_LOCKS } from '../../src/persistence/advisory-locks.ts';
import { skipIds, UNKNOWN_OUTCOME } from '../../src/persistence/repositories/restore.repository.ts';
import { ORPHANED } from '../../workers/restore/orphaned.ts';
import type { ReconcileCursor } from '../../workflows/contracts/reconcile.contract.ts';
import { aChain, aGroup } from '../support/activity-rows.ts';
import { type ActivityRuntime, createActivityRuntime } from '../support/activity-runtime.ts';
import { takeBackup } from '../support/logical-backup.ts';
import { schedulesOf } from '../support/profile-schedules.ts';
import { createScriptWorld } from '../support/script-world.ts';
import { createSqlFleet, type SqlFleet } from '../support/sql-fleet.ts';
import { createUsgWorld } from '../support/usg-world.ts';
import { until } from '../support/workflow-environment.ts';

/** A database restored to an older backup beside a Temporal server that knows more. @see perf-reliability B4, row 11 */
let runtime: ActivityRuntime;
let fleet: SqlFleet;
let cursor: ReconcileCursor | null = null;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  await runtime.startWorker();
  runtime.startRelay();
  fleet = await createSqlFleet(runtime.db, 60);
});

afterAll(async () => {
  await runtime?.close();
});

async function reconcile(): Promise<void> {
  ({ cursor } = await runtime.reconciler.reconcile(cursor));
}

async function children(id: number): Promise<Array<{ id: number; status: string; text: string | null }>> {
  return await runtime.db.query(
    'select id, status, result_text as text from activity where parent_id = $1 order by id',
    [id],
  );
}

async function status(id: number): Promise<string | undefined> {
  const [row] = await runtime.db.query<{ status: string }>('select status from activity where id = $1', [id]);
  return row?.status;
}

async function queued(id: number): Promise<number> {
  const [row] = await runtime.db.query<{ count: number }>(
    `select count(*)::int as count from agent_message m join activity a on a.id = m.activity_id
     where a.parent_id = $1 and m.state = 'queued'`,
    [id],
  );
  return row!.count;
}

const allAre = (id: number, wanted: string) => async () =>
  (await children(id)).every((child) => child.status === wanted);

async function epoch(): Promise<string> {
  const [row] = await runtime.db.query<{ value: string }>(`select value from system_setting where key = 'token_epoch'`);
  return row!.value;
}

describe('a database restored to an older backup', () => {
  it('gives nothing out again that a computer may have had, and lets later results count', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000);
    const [given, later] = [await fleet.act(), await fleet.act(fleet.computers.slice(0, 3), tomorrow)];
    await until(async () => (await queued(given)) === 60 && (await queued(later)) === 3);
    await reconcile();
    const epochBefore = await epoch();
    const restore = await takeBackup(runtime.db);

    await fleet.deliver();
    const lost = await fleet.act(fleet.computers.slice(0, 2));
    await until(allAre(given, 'delivered'));
    await until(async () => (await queued(lost)) === 2);
    // Workflows without rows are found by what the server lists, which lags behind.
    const listed = `WorkflowId = 'activity/${lost}' AND ExecutionStatus = 'Running'`;
    await until(async () => (await runtime.client.workflow.count(listed)).count === 1);
    await reconcile();
    await restore();
    expect(await status(lost)).toBeUndefined();
    expect(await queued(given)).toBe(60);

    await reconcile();
    expect(await fleet.deliver()).toBe(0);
    await until(allAre(given, 'canceled'));
    expect((await children(given)).map(({ text }) => text)).toEqual(new Array(60).fill(UNKNOWN_OUTCOME));
    expect(await queued(later)).toBe(3);
    expect(await allAre(later, 'undelivered')()).toBe(true);
    expect(await runtime.status(`activity/${lost}`)).toBe('TERMINATED');
    expect(Number(await epoch())).toBeGreaterThan(Number(epochBefore) + 1_000_000);

    // One computer's result comes after all, and counts once.
    const [first] = await children(given);
    await runtime.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok, code, body)
       select lane_id, id, 'result', true, 0, 'done' from activity where id = $1`,
      [first!.id],
    );
    await until(async () => (await status(first!.id)) === 'succeeded');
    const next = await fleet.act([fleet.computers[0]!]);
    expect(next).toBeGreaterThan(lost + 100_000);
    await until(async () => {
      await fleet.deliver();
      await fleet.report();
      return (await status(next)) === 'succeeded';
    });
  });

  it('repairs once, and a database that lost nothing never', async () => {
    const before = await epoch();
    const id = await fleet.act(fleet.computers.slice(0, 4));
    await until(async () => (await queued(id)) === 4);
    for (let round = 0; round < 3; round += 1) await reconcile();
    expect(await epoch()).toBe(before);
    expect(await queued(id)).toBe(4);
    await fleet.deliver();
    await fleet.report();
    await until(allAre(id, 'succeeded'));
  });

  it('tells the event log of each account', async () => {
    const rows = await runtime.db.query<{ message: string }>(
      `select message from event where account_id = $1 and person_name = 'Restore'`,
      [fleet.accountId],
    );
    expect(rows.map(({ message }) => message)).toEqual([
      'The database was restored from a backup: 60 operations of unknown outcome were ended',
    ]);
  });

  it('does not run dates again that may have had their run in the time that was lost', async () => {
    const clock = { now: () => new Date() };
    const usg = await createUsgWorld(runtime.db, clock);
    const scripts = await createScriptWorld(runtime.db, clock);
    const profile = await usg.create({ startDate: '2090-01-01' });
    const soon = new Date(Date.now() + 60_000);
    const script = await scripts.create({ type: 'one_time', timestamp: soon.toISOString() });
    await reconcile();
    const restore = await takeBackup(runtime.db);
    await reconcile();
    await restore();
    // The dates pass while nobody serves.
    const past = new Date(Date.now() - 300_000);
    await runtime.db.query(
      'update usg_profile set planned_dates = array[$2::timestamptz] || planned_dates where id = $1',
      [profile, past],
    );
    await runtime.db.query('update script_profile set due_at = $2 where id = $1', [script.id, past]);

    await reconcile();
    expect(await usg.runs(profile)).toEqual([]);
    expect(await scripts.runs(script.id)).toEqual([]);
    await reconcile();
    expect(await usg.runs(profile)).toEqual([]);
    expect(await scripts.runs(script.id)).toEqual([]);
    const rows = await runtime.db.query<{ message: string }>(
      `select message from event where message like 'Left out the run of the %' order by message`,
    );
    expect(rows.map(({ message }) => message.replace(/ that was due.*/, ''))).toEqual([
      expect.stringContaining('USG profile Weekly baseline'),
      expect.stringContaining('script profile Profile 1'),
    ]);
  });

  it.each([
    ['the database', () => runtime.db.query('update reconciler_mark set mark = mark - 600000')],
    [
      'the server',
      async () => {
        cursor = { ...cursor!, mark: cursor!.mark! - 600_000 };
      },
    ],
  ])('makes schedules follow their profiles again where %s is older', async (_, age) => {
    const scripts = await createScriptWorld(runtime.db, { now: () => new Date() });
    const { handle, exists, noOrders } = schedulesOf(() => runtime, 'script');
    const { id } = await scripts.create({
      type: 'recurring',
      interval: '30 2 * * *',
      startAfter: '2026-01-01T00:00:00Z',
    });
    await until(() => exists(id));
    await noOrders();
    await runtime.db.query(`update script_profile set last_edited_at = now() - interval '1 hour' where id = $1`, [id]);
    const hours = async () => (await handle(id).describe()).info.nextActionTimes.map((at) => at.getUTCHours());
    await handle(id).update((known) => ({ ...known, spec: { calendars: [{ hour: 7 }] } }));
    await reconcile();
    await noOrders();
    expect(await hours()).toContain(7);
    await age();
    await reconcile();
    await until(async () => !(await hours()).includes(7));
    expect(await hours()).toContain(2);
  });

  it('leaves a chain at work whose first step has ended', async () => {
    const own = await createSqlFleet(runtime.db, 2);
    const account = { accountId: own.accountId, groupId: 0, computers: own.computers };
    const chain = await aGroup(runtime.db, account, { operations: aChain(2, 86_400) });
    await until(async () => (await queued(chain)) === 2);
    await own.deliver();
    await own.report();
    const halfway = ['succeeded', 'undelivered', 'succeeded', 'undelivered'];
    const statuses = async () => (await children(chain)).map((child) => child.status);
    await until(async () => (await statuses()).join() === halfway.join());
    const lanes = await runtime.db.query<{ wf_id: string }>('select wf_id from lane where parent_id = $1', [chain]);
    for (const { wf_id: id } of lanes) {
      const listed = `WorkflowId = '${id}' AND ExecutionStatus = 'Running'`;
      await until(async () => (await runtime.client.workflow.count(listed)).count === 1);
    }

    await reconcile();
    const restore = await takeBackup(runtime.db);
    await reconcile();
    const before = await epoch();
    await restore();
    await reconcile();
    expect(Number(await epoch())).toBeGreaterThan(Number(before));
    for (const { wf_id: id } of lanes) expect(await runtime.status(id)).toBe('RUNNING');
    await reconcile();
    expect(await statuses()).toEqual(halfway);
  });

  it('gives no id and no epoch of tokens out again when the same backup is restored once more', async () => {
    await reconcile();
    const restore = await takeBackup(runtime.db);
    const seen: Array<{ id: number; epoch: number }> = [];
    for (let round = 0; round < 3; round += 1) {
      await reconcile();
      await restore();
      // Seconds tell epochs apart.
      await delay(1_100);
      await reconcile();
      const id = await fleet.act(fleet.computers.slice(0, 2));
      await until(async () => (await queued(id)) === 2);
      const listed = `WorkflowId = 'activity/${id}' AND ExecutionStatus = 'Running'`;
      await until(async () => (await runtime.client.workflow.count(listed)).count === 1);
      seen.push({ id, epoch: Number(await epoch()) });
    }
    for (const what of ['id', 'epoch'] as const) {
      const values = seen.map((one) => one[what]);
      expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    }
    const [one, two, three] = seen.map(({ id }) => id);
    expect([two! - one! > 100_000, three! - two! > 100_000]).toEqual([true, true]);
  });

  it('moves ids further the longer ago the backup was made', async () => {
    await reconcile();
    const place = async () =>
      (await runtime.db.query<{ id: number }>(`select nextval('activity_id_seq')::int as id`))[0]!.id;
    const moved = async (lostMs: number) => {
      const before = await place();
      await runtime.db.transaction((tx) => skipIds(tx, new Date(Date.now() + lostMs), 0));
      return (await place()) - before;
    };
    expect(await moved(0)).toBeLessThan(1_100_000);
    const day = await moved(86_400_000);
    expect(day).toBeGreaterThan(9_600_000);
    expect(day).toBeLessThan(9_700_000);
    // A repair that was cut off is begun again.
    expect(await moved(86_400_000)).toBeLessThan(1_100_000);
    // Never over more than a quarter of what is left.
    expect(await moved(100 * 365 * 86_400_000)).toBeLessThan(2 ** 29);
  });

  it('carries out what has the id of a workflow that a repair ended, and cancels what an operator ended', async () => {
    const ids: number[] = [];
    for (const reason of [ORPHANED, 'by hand']) {
      const [row] = await runtime.db.query<{ id: number }>(`select last_value::int + 1 as id from activity_id_seq`);
      // A group, and where it was a repair, the lanes of its computers too.
      const taken = reason === ORPHANED ? [row!.id, row!.id + 1, row!.id + 2] : [row!.id];
      for (const id of taken) {
        const options = { taskQueue: 'nobody', args: [{ id }], workflowId: `activity/${id}` };
        await (await runtime.client.workflow.start('activity', options)).terminate(reason);
      }
      ids.push(await fleet.act(fleet.computers.slice(0, 2)));
      expect(ids.at(-1)).toBe(row!.id);
    }
    const [own, operators] = ids;
    await until(async () => {
      await reconcile();
      return (await queued(own!)) === 2 && (await allAre(operators!, 'canceled')());
    });
    expect(await allAre(own!, 'undelivered')()).toBe(true);
  });

  it('is repaired by one at a time', async () => {
    await reconcile();
    const restore = await takeBackup(runtime.db);
    await reconcile();
    await restore();
    const before = Number(await epoch());
    const connection = await runtime.db.connect();
    try {
      await connection.query('select pg_advisory_lock($1)', [SESSION_LOCKS.repair]);
      await expect(reconcile()).rejects.toThrow('under way');
      expect(Number(await epoch())).toBe(before);
      await connection.query('select pg_advisory_unlock($1)', [SESSION_LOCKS.repair]);
    } finally {
      connection.release();
    }
    await reconcile();
    expect(Number(await epoch())).toBeGreaterThan(before);
  });
});
