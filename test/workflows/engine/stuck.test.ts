import { Client } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataConverter } from '../../../temporal/encryption/data-converter.ts';
import type { Dispatcher } from '../../../workers/dispatcher/dispatcher.ts';
import { HASH_ID_DATABASES_WORKFLOW } from '../../../workflows/contracts/housekeeping.contract.ts';
import { PROFILE_TRIGGER_WORKFLOW } from '../../../workflows/contracts/profile-trigger.contract.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import { RELEASED_BATCH_WORKFLOW, RELEASED_GROUP_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
  type SqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { countEvents, until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let dispatcher: Dispatcher;
let fleet: SqlFleet;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  await runtime.startWorker();
  dispatcher = runtime.startDispatcher();
  fleet = await createSqlFleet(runtime.db, 5);
});

afterAll(async () => {
  await runtime?.close();
});

async function statusOf(id: number): Promise<string> {
  const [row] = await runtime.db.query<{ status: string }>('select status from activity where id = $1', [id]);
  return row!.status;
}

const batchesOf = (id: number) =>
  runtime.db.query<{ id: number; wf_id: string }>(
    'select distinct l.id, l.wf_id from lane l join activity a on a.lane_id = l.id where a.parent_id = $1 or a.id = $1',
    [id],
  );

/** Reconciles until a workflow is reported as one that cannot go on. */
async function untilReported(workflowId: string, reason: string): Promise<void> {
  const reported = new Set<string>();
  const logger = pino({ level: 'error' }, { write: (line) => void reported.add(line) });
  const reconciler = runtime.reconcilerWith(runtime.client, { logger });
  await until(async () => {
    expect((await reconciler.reconcileWorkflows({ cursor: null })).restarted).toBe(0);
    return [...reported]
      .map((line) => JSON.parse(line))
      .some((e) => e.workflowId === workflowId && e.reason === reason);
  }, 60_000);
}

/** What an operator does who wants a workflow started again from its rows. */
async function deleteWorkflow(id: number): Promise<void> {
  const workflowExecution = { workflowId: `activity/${id}` };
  await runtime.client.workflowService.deleteWorkflowExecution({ namespace: runtime.namespace, workflowExecution });
  await until(async () => (await runtime.status(`activity/${id}`).catch(() => 'GONE')) === 'GONE');
  await until(async () => (await runtime.reconciler.reconcileWorkflows({ cursor: null })).restarted === 1, 60_000);
}

/** Starts a workflow as somebody does whose key the workers lack. */
async function startUnreadable(type: string, options: { workflowId: string; taskQueue: string; args: unknown[] }) {
  const { workflow } = new Client({
    connection: runtime.client.connection,
    namespace: runtime.namespace,
    dataConverter: createDataConverter([{ id: 'other', key: Buffer.alloc(32, 9) }]),
  });
  return workflow.start(type, options);
}

/** {@link startUnreadable} of an activity. */
function startUnreadableOf(id: number, type: string, input: object) {
  return startUnreadable(type, { workflowId: `activity/${id}`, taskQueue: TASK_QUEUES.activity, args: [input] });
}

describe('a stuck workflow', () => {
  it('is reported and left as it is when no key decrypts its input, and others continue', async () => {
    await dispatcher.stop();
    const id = await fleet.act(fleet.computers.slice(0, 3));
    await startUnreadableOf(id, RELEASED_GROUP_WORKFLOW, { id });
    dispatcher = runtime.startDispatcher();
    // The dispatcher takes it for started; the others are not held up.
    const healthy = await fleet.act(fleet.computers.slice(3));
    await until(async () => {
      await fleet.deliver();
      return (await statusOf(healthy)) === 'delivered';
    });
    await untilReported(`activity/${id}`, 'task');
    expect(await runtime.status(`activity/${id}`)).toBe('RUNNING');
    await deleteWorkflow(id);
    await until(async () => {
      await fleet.deliver();
      await fleet.report();
      return (await statusOf(id)) === 'succeeded' && (await statusOf(healthy)) === 'succeeded';
    }, 60_000);
    await until(async () => (await runtime.status(`activity/${id}`)) === 'COMPLETED');
  }, 180_000);

  it('is reported when its due time has passed', async () => {
    const id = await fleet.actAlone(fleet.computers[0]!);
    await until(async () => {
      await fleet.deliver();
      return (await statusOf(id)) === 'delivered';
    });
    await runtime.client.workflow.getHandle(`activity/${id}`).terminate('by test');
    const [row] = await runtime.db.query<{ batch: number }>('select lane_id as batch from activity where id = $1', [
      id,
    ]);
    await startUnreadableOf(id, RELEASED_BATCH_WORKFLOW, { batch: row!.batch, single: true });
    await runtime.db.query(
      `update activity set delivery_time = now() - interval '31 days', modification_time = now() - interval '31 days'
       where id = $1`,
      [id],
    );
    await runtime.db.query(`update lane set next_due_at = now() - interval '1 day' where id = $1`, [row!.batch]);
    expect(await runtime.db.query('select from agent_inbox where lane_id = $1', [row!.batch])).toEqual([]);
    await untilReported(`activity/${id}`, 'task');
    await deleteWorkflow(id);
    await until(async () => (await statusOf(id)) === 'failed');
    await until(async () => (await runtime.status(`activity/${id}`)) === 'FAILED');
  }, 180_000);

  it('is reported and not signaled when its rows have ended', async () => {
    await dispatcher.stop();
    const handles: Awaited<ReturnType<typeof startUnreadable>>[] = [];
    for (const size of [1, 2]) {
      const id = await fleet.act(fleet.computers.slice(0, size));
      const batches = await batchesOf(id);
      const values = [batches.map((batch) => batch.id)];
      await runtime.db.query(`insert into agent_inbox (lane_id, kind) select unnest($1::int[]), 'cancel'`, values);
      for (const batch of batches) await runtime.engine.processPendingEvents(batch.id, false);
      expect(await statusOf(id)).toBe('canceled');
      handles.push(await startUnreadableOf(id, 'SnapAction', { id }));
    }
    for (const handle of handles) {
      await untilReported(handle.workflowId, 'task');
      await handle.terminate('by test');
      expect((await countEvents(handle)).of('workflowExecutionSignaled')).toBe(0);
    }
    dispatcher = runtime.startDispatcher();
  }, 120_000);

  it('is reported when it has no rows', async () => {
    const stop = await runtime.startScheduleWorker();
    const workflowId = 'system-hash-id-databases-x';
    const handle = await startUnreadable(HASH_ID_DATABASES_WORKFLOW, {
      workflowId,
      taskQueue: TASK_QUEUES.schedule,
      args: [{}],
    });
    await untilReported(workflowId, 'task');
    await handle.terminate('by test');
    await stop();
  }, 120_000);
});

describe('a workflow that failed for good', () => {
  it('is left to another build, which starts it again', async () => {
    const id = await fleet.actAlone(fleet.computers[2]!);
    await until(async () => (await runtime.status(`activity/${id}`).catch(() => '')) === 'RUNNING');
    await dispatcher.stop();
    await runtime.db.query(
      `update lane set wf_id = 'activity/' || $1 || '/lane/9' where id =
      (select lane_id from activity where id = $1)`,
      [id],
    );
    // As if a defect had ended it: the row of another group that is not there.
    const options = {
      workflowId: `activity/${id}/lane/9`,
      taskQueue: TASK_QUEUES.activity,
      args: [{ id: 2_000_000_000 }],
    };
    const failed = await runtime.client.workflow.start('SnapAction', options);
    await expect(failed.result()).rejects.toMatchObject({ cause: { type: 'MissingRow' } });
    await untilReported(options.workflowId, 'failure');
    expect(await runtime.status(options.workflowId)).toBe('FAILED');
    const next = runtime.reconcilerWith(runtime.client, { buildId: 'fixed' });
    await until(async () => (await next.reconcileWorkflows({ cursor: null })).restarted === 1, 60_000);
    await until(async () => (await runtime.status(options.workflowId)) === 'RUNNING');
    await runtime.client.workflow.getHandle(`activity/${id}`).terminate('by test');
    dispatcher = runtime.startDispatcher();
  }, 120_000);
});

describe('a workflow of a schedule that failed for good', () => {
  it('is reported', async () => {
    const stop = await runtime.startScheduleWorker();
    const trigger = await runtime.client.workflow.start(PROFILE_TRIGGER_WORKFLOW, {
      workflowId: 'usg-run/1-2026-12-01T02:00:00Z',
      taskQueue: TASK_QUEUES.schedule,
      args: [{ kind: 'of a newer build', profileId: 1 }],
    });
    await expect(trigger.result()).rejects.toMatchObject({ cause: { type: 'UnknownKind' } });
    await untilReported(trigger.workflowId, 'failure');
    await stop();
  }, 60_000);
});

/** As after a loss of the server's last moments, or with a worker that stood still: rows know more than the workflow. */
describe('a workflow that waits for what has happened', () => {
  async function delivered(id: number): Promise<void> {
    await until(async () => {
      await fleet.deliver();
      const rows = await runtime.db.query(
        'select from activity where lane_id is not null and status <> $2 and $1 in (id, parent_id)',
        [id, 'delivered'],
      );
      return rows.length === 0;
    });
  }

  it('is woken when the time of its timer has passed', async () => {
    const id = await fleet.actAlone(fleet.computers[1]!);
    await delivered(id);
    await runtime.db.query(
      `update activity set delivery_time = now() - interval '31 days', modification_time = now() - interval '31 days'
       where id = $1`,
      [id],
    );
    const [batch] = await batchesOf(id);
    await runtime.db.query(`update lane set next_due_at = now() - interval '1 day' where id = $1`, [batch!.id]);
    // It leaves a workflow alone whose task is not done yet.
    await until(async () => {
      expect((await runtime.reconciler.reconcileWorkflows({ cursor: null })).restarted).toBe(0);
      return (await statusOf(id)) === 'failed';
    });
    await until(async () => (await runtime.status(`activity/${id}`)) === 'FAILED');
  }, 60_000);

  it('ends when its rows have ended, and so does its group', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 3));
    await delivered(id);
    await dispatcher.stop();
    await fleet.report();
    const batches = await batchesOf(id);
    for (const batch of batches) await runtime.engine.processPendingEvents(batch.id, false);
    expect(await statusOf(id)).toBe('succeeded');
    expect(await runtime.status(batches[0]!.wf_id)).toBe('RUNNING');
    await until(async () => {
      expect((await runtime.reconciler.reconcileWorkflows({ cursor: null })).restarted).toBe(0);
      return (await runtime.status(`activity/${id}`)) === 'COMPLETED';
    }, 60_000);
    for (const batch of batches) expect(await runtime.status(batch.wf_id)).toBe('COMPLETED');
    dispatcher = runtime.startDispatcher();
  }, 120_000);
});
