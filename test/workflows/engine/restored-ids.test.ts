import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipIds } from '../../../src/persistence/activities/restore.sql.ts';
import { ORPHANED } from '../../../workers/reconciler/workflow-state.ts';
import { takeBackup } from '../../support/database/database.ts';
import { until } from '../../support/temporal/workflow-environment.ts';
import { createRestoreWorld, type RestoreWorld } from './restore-world.ts';

/** What a repair after a restore makes of ids that were given out in the time that was lost. @see docs/reliability.md#an-older-backup-is-restored */
let world: RestoreWorld;

beforeAll(async () => {
  world = await createRestoreWorld(2);
});

afterAll(async () => {
  await world?.close();
});

describe('ids after a restore', () => {
  it('reuses no id and no token epoch when the same backup is restored again', async () => {
    await world.reconcile();
    const restore = await takeBackup(world.runtime.db);
    const seen: Array<{ id: number; epoch: number }> = [];
    for (let round = 0; round < 3; round += 1) {
      await world.reconcile();
      await restore();
      // Seconds tell epochs apart.
      const second = Math.floor(Date.now() / 1000);
      await until(() => Math.floor(Date.now() / 1000) > second);
      await world.reconcile();
      const id = await world.fleet.act(world.fleet.computers.slice(0, 2));
      await until(async () => (await world.queued(id)) === 2);
      const listed = `WorkflowId = 'activity/${id}' AND ExecutionStatus = 'Running'`;
      await until(async () => (await world.runtime.client.workflow.count(listed)).count === 1);
      seen.push({ id, epoch: await world.epoch() });
    }
    for (const what of ['id', 'epoch'] as const) {
      const values = seen.map((one) => one[what]);
      expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    }
    const [one, two, three] = seen.map(({ id }) => id);
    expect([two! - one! > 100_000, three! - two! > 100_000]).toEqual([true, true]);
  });

  it('moves ids further the longer ago the backup was made', async () => {
    await world.reconcile();
    const place = async () =>
      (await world.runtime.db.query<{ id: number }>(`select nextval('activity_id_seq')::int as id`))[0]!.id;
    const moved = async (lostMs: number) => {
      const before = await place();
      await world.runtime.db.transaction((tx) => skipIds(tx, new Date(Date.now() + lostMs), 0));
      return (await place()) - before;
    };
    expect(await moved(0)).toBeLessThan(1_100_000);
    const day = await moved(86_400_000);
    expect(day).toBeGreaterThan(9_600_000);
    expect(day).toBeLessThan(9_700_000);
    // A repair that was cut off is started again.
    expect(await moved(86_400_000)).toBeLessThan(1_100_000);
    // Never over more than a quarter of what is left.
    expect(await moved(100 * 365 * 86_400_000)).toBeLessThan(2 ** 29);
  });

  it('carries out what has the id of a workflow that a repair ended, and cancels what an operator ended', async () => {
    const ids: number[] = [];
    for (const reason of [ORPHANED, 'by hand']) {
      const [row] = await world.runtime.db.query<{ id: number }>(
        `select last_value::int + 1 as id from activity_id_seq`,
      );
      // A group, and where it was a repair, the batches of its computers too.
      const taken = reason === ORPHANED ? [row!.id, row!.id + 1, row!.id + 2] : [row!.id];
      for (const id of taken) {
        const options = { taskQueue: 'nobody', args: [{ id }], workflowId: `activity/${id}` };
        await (await world.runtime.client.workflow.start('activity', options)).terminate(reason);
      }
      ids.push(await world.fleet.act(world.fleet.computers.slice(0, 2)));
      expect(ids.at(-1)).toBe(row!.id);
    }
    const [own, operators] = ids;
    await until(async () => {
      await world.reconcile();
      return (await world.queued(own!)) === 2 && (await world.allAre(operators!, 'canceled'));
    });
    expect(await world.allAre(own!, 'undelivered')).toBe(true);
  });
});
