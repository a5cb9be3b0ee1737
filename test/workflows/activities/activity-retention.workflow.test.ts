import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { RetentionActivities } from '../../../workflows/contracts/activities.ts';
import {
  ACTIVITY_RETENTION_SCHEDULE_ID,
  ACTIVITY_RETENTION_WORKFLOW,
  RETENTION_STEPS,
  type RetentionCursor,
  type RetentionResult,
} from '../../../workflows/contracts/housekeeping.contract.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import { until, withWorker } from '../../support/temporal/workflow-environment.ts';

const at = (id: number): RetentionCursor => ({ createdAt: '2026-11-21T12:00:00.000000Z', id });

/** Steps over activities 1 to `end`, one each; some tries fail. */
function steps(end: number, failures = 0) {
  const calls: Array<number | null> = [];
  let left = failures;
  const activities: RetentionActivities = {
    async purgeExpiredActivities({ after }) {
      if (left-- > 0) throw new Error('the database is away');
      calls.push(after?.id ?? null);
      const id = (after?.id ?? 0) + 1;
      return { deletedCount: 10, deleted: [id], next: id < end ? at(id) : null };
    },
  };
  return { activities, calls };
}

const run = ({ nativeConnection: connection, client }: TestWorkflowEnvironment, activities: RetentionActivities) =>
  withWorker({ connection, activities }, (taskQueue) =>
    client.workflow.execute<() => Promise<RetentionResult>>(ACTIVITY_RETENTION_WORKFLOW, {
      taskQueue,
      workflowId: `activity-retention-${randomUUID()}`,
    }),
  );

describe('activityRetention', () => {
  it('continues step by step to the end', async ({ server }) => {
    const { activities, calls } = steps(4);
    expect(await run(server, activities)).toEqual({ deletedCount: 40, next: null });
    expect(calls).toEqual([null, 1, 2, 3]);
  });

  it('waits for an unavailable database and skips no step', async ({ server }) => {
    const { activities, calls } = steps(2, 8);
    expect(await run(server, activities)).toEqual({ deletedCount: 20, next: null });
    expect(calls).toEqual([null, 1]);
  });

  it('stops after a bounded number of steps and returns where', async ({ server }) => {
    const { activities, calls } = steps(RETENTION_STEPS + 50);
    expect(await run(server, activities)).toEqual({ deletedCount: RETENTION_STEPS * 10, next: at(RETENTION_STEPS) });
    expect(calls).toHaveLength(RETENTION_STEPS);
  });

  it('starts where the last run of its schedule stopped', async ({ server }) => {
    const { activities, calls } = steps(RETENTION_STEPS + 3);
    await withWorker({ connection: server.nativeConnection, activities }, async (taskQueue) => {
      const handle = await server.client.workflow.start<() => Promise<RetentionResult>>(ACTIVITY_RETENTION_WORKFLOW, {
        taskQueue,
        workflowId: 'activity-retention-cron',
        cronSchedule: '7 * * * *',
      });
      await server.sleep('3h');
      await handle.terminate();
    });
    expect(calls.slice(0, RETENTION_STEPS + 3)).toEqual([
      null,
      ...Array.from({ length: RETENTION_STEPS + 2 }, (_, place) => place + 1),
    ]);
    expect(calls[RETENTION_STEPS + 3]).toBe(null);
  });
});

describe('the schedule of the retention', () => {
  let runtime: ActivityRuntime;

  beforeAll(async () => {
    runtime = await createActivityRuntime();
    runtime.startDispatcher();
    await runtime.startWorker();
    await runtime.startScheduleWorker();
  });
  afterAll(() => runtime?.close());

  it('removes what real workflows ended long ago, and nothing younger', async () => {
    const fleet = await createSqlFleet(runtime.db, 3);
    const [old, young] = [await fleet.act(), await fleet.act()];
    const open = () => runtime.db.query('select 1 from activity where open_count > 0');
    await until(async () => {
      await fleet.deliver();
      await fleet.report();
      return (await open()).length === 0;
    });
    await until(async () => (await runtime.db.query('select 1 from agent_inbox')).length === 0);
    await runtime.db.query(
      `update activity set creation_time = creation_time - interval '31 days',
         completion_time = completion_time - interval '31 days' where $1 in (id, parent_id)`,
      [old],
    );
    await runtime.client.schedule.getHandle(ACTIVITY_RETENTION_SCHEDULE_ID).trigger();
    const parents = async () =>
      (await runtime.db.query<{ id: number }>('select id from activity where parent_id is null')).map(({ id }) => id);
    await until(async () => (await parents()).length === 1);
    expect(await parents()).toEqual([young]);
    expect(await runtime.db.query('select id from lane where parent_id = $1', [old])).toEqual([]);
    expect(await runtime.db.query('select id from activity where parent_id = $1', [young])).toHaveLength(3);
  });
});
