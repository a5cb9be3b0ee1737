import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECONCILE_SCHEDULE_ID, type ReconcileResult } from '../../../workflows/contracts/housekeeping.contract.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import { anAccount } from '../../support/activities/activity-rows.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { TEST_DATA_CONVERTER, until, workflowCode } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;

beforeAll(async () => {
  runtime = await createActivityRuntime();
});
afterAll(() => runtime?.close());

describe('a run of the reconciler', () => {
  it('shortens the event log to the days that are kept', async () => {
    const insert = (from: number, to: number, daysAgo: number) =>
      runtime.db.query(
        `insert into event (id, creation_time, person_name, entity_type, entity_name, message, address, request_id)
         select n, now() - make_interval(days => $3), 'P', 'Computer', 'web', 'old', '::1', 'r' from generate_series($1::int, $2) n`,
        [from, to, daysAgo],
      );
    await insert(-3000, -1001, 31);
    await insert(-1000, -1, 29);
    await runtime.reconciler.reconcileWorkflows({ cursor: null });
    const left = await runtime.db.query('select min(id)::int as min, count(*)::int as count from event where id < 0');
    expect(left).toEqual([{ min: -1000, count: 1000 }]);
  });

  it('takes back the slots of computers that poll fast without work', async () => {
    const [computer] = (await anAccount(runtime.db)).computers;
    await runtime.db.query(
      `insert into agent (computer_id, registration_digest, polls_fast, fast_at)
       values ($1, '', true, now() - interval '2 minutes')`,
      [computer],
    );
    await runtime.reconciler.reconcileWorkflows({ cursor: null });
    const rows = await runtime.db.query('select polls_fast, fast_at from agent where computer_id = $1', [computer]);
    expect(rows).toEqual([{ polls_fast: true, fast_at: null }]);
  });

  it('runs by its schedule and hands its cursor on', async () => {
    const connection = await NativeConnection.connect({ address: runtime.address });
    const worker = await Worker.create({
      connection,
      namespace: runtime.namespace,
      taskQueue: TASK_QUEUES.schedule,
      activities: runtime.reconciler,
      workflowBundle: { code: await workflowCode() },
      dataConverter: TEST_DATA_CONVERTER,
    });
    await worker.runUntil(async () => {
      const schedule = runtime.client.schedule.getHandle(RECONCILE_SCHEDULE_ID);
      const results: ReconcileResult[] = [];
      for (let run = 0; run < 2; run += 1) {
        await schedule.trigger();
        await until(async () => (await schedule.describe()).info.recentActions.length > run);
        const { action } = (await schedule.describe()).info.recentActions.at(-1)!;
        results.push(await runtime.client.workflow.getHandle(action.workflow.workflowId).result());
      }
      expect(results[1]!.cursor.closedSince).toBeGreaterThan(results[0]!.cursor.closedSince);
      expect(results[1]!.cursor.batchAfter).toBe(0);
    });
    await connection.close();
  });
});
