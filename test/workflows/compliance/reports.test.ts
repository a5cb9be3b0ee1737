import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabaseFileStore } from '../../../src/services/common/files.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createUsgReportsService } from '../../../src/services/compliance/reports/usg-reports.service.ts';
import { createDataConverter } from '../../../temporal/encryption/data-converter.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import { REPORT_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { aRule, createUsgWorld, insertAuditedRun, type UsgWorld } from '../../support/compliance/usg.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let usg: UsgWorld;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  await runtime.startWorker();
  runtime.startDispatcher();
  usg = await createUsgWorld(runtime.db, systemClock, 20);
});
afterAll(() => runtime?.close());

const reports = () =>
  createUsgReportsService({ db: runtime.db, clock: systemClock, files: createDatabaseFileStore(runtime.db) });
const wf = (id: number) => `activity/${id}`;

/** A requested report, on a run of twenty computers. */
async function requested(): Promise<{ id: number; profileId: number }> {
  const profileId = await usg.create({ startDate: '2090-01-01' });
  await insertAuditedRun(runtime.db, {
    accountId: usg.caller.accountId,
    profileId,
    startedAt: new Date('2026-05-04T02:00:00Z'),
    computers: new Map(usg.computers.map((computer) => [computer, 'pf'])),
    rules: [aRule('rule_1'), aRule('rule_2')],
  });
  const result = await reports().request(usg.caller, {
    profileId,
    startDate: '2026-05-04',
    endDate: null,
    detailed: true,
    traceparent: null,
  });
  return { id: 'activity' in result ? result.activity.id : 0, profileId };
}

async function read(id: number) {
  const rows = await runtime.db.query(
    `select a.status, a.progress, a.result_text as text,
       (select count(*) from stored_file f where f.profile_id = (a.parameters->>'profile_id')::int) as files
     from activity a where a.id = $1`,
    [id],
  );
  return rows[0]!;
}

/** One that was not started yet has not ended. */
const ended = (id: number) =>
  until(async () => (await runtime.status(wf(id)).catch(() => 'RUNNING')) !== 'RUNNING', 60_000);

describe('reportActivity', () => {
  it('is made by workers of its own, as the least urgent work, and closes as its activity', async () => {
    const stop = await runtime.startReportWorker();
    const { id, profileId } = await requested();
    await until(async () => (await read(id))['status'] === 'succeeded');
    await ended(id);
    expect(await runtime.status(wf(id))).toBe('COMPLETED');
    const path = `usg_profile_audit_report_ID${profileId}-20260504-detailed.csv`;
    expect(await read(id)).toEqual({ status: 'succeeded', progress: 100, text: path, files: 1 });
    const { raw } = await runtime.client.workflow.getHandle(wf(id)).describe();
    expect(raw.workflowExecutionInfo).toMatchObject({
      type: { name: 'UsgReport' },
      taskQueue: 'fleet-activity',
      priority: { priorityKey: 5 },
    });
    const { events } = await runtime.client.workflow.getHandle(wf(id)).fetchHistory();
    const scheduled = events?.flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
    expect(scheduled).toMatchObject([{ activityType: { name: 'writeReport' }, taskQueue: { name: 'fleet-report' } }]);
    expect(events?.length).toBeLessThanOrEqual(11);
    await stop();
  });

  it('is canceled while no worker makes reports', async () => {
    const { id } = await requested();
    await until(async () => (await runtime.status(wf(id)).catch(() => '')) === 'RUNNING');
    await runtime.client.workflow.getHandle(wf(id)).cancel();
    await ended(id);
    expect(await runtime.status(wf(id))).toBe('CANCELLED');
    expect(await read(id)).toMatchObject({ status: 'canceled', text: null, files: 0 });
  });

  it('is canceled while it is at work', async () => {
    const stop = await runtime.startReportWorker({
      writeReport: async () => {
        const context = Context.current();
        // A cancel arrives with the response to a heartbeat.
        const beat = setInterval(() => context.heartbeat(), 500);
        return await context.cancelled.finally(() => clearInterval(beat));
      },
    });
    const { id } = await requested();
    await until(async () => (await runtime.status(wf(id)).catch(() => '')) === 'RUNNING');
    await runtime.client.workflow.getHandle(wf(id)).cancel();
    await ended(id);
    expect(await read(id)).toMatchObject({ status: 'canceled', files: 0 });
    expect(await runtime.status(wf(id))).toBe('CANCELLED');
    await stop();
  });

  it('closes as Canceled when its row was canceled by the API alone', async () => {
    const { id } = await requested();
    await runtime.db.query(`update activity set status = 'canceled', completion_time = now() where id = $1`, [id]);
    const stop = await runtime.startReportWorker();
    await ended(id);
    expect(await runtime.status(wf(id))).toBe('CANCELLED');
    expect(await read(id)).toMatchObject({ status: 'canceled', files: 0 });
    await stop();
  });

  it('is started again when its workflow is lost, and canceled when an operator terminated it', async () => {
    const [lost, terminated] = [await requested(), await requested()];
    for (const { id } of [lost, terminated]) {
      await until(async () => (await runtime.status(wf(id)).catch(() => '')) === 'RUNNING');
    }
    await runtime.client.workflow.getHandle(wf(terminated.id)).terminate('by an operator');
    await runtime.client.workflowService.deleteWorkflowExecution({
      namespace: runtime.namespace,
      workflowExecution: { workflowId: wf(lost.id) },
    });
    await until(async () => (await runtime.status(wf(lost.id)).catch(() => 'gone')) === 'gone');
    expect(await runtime.reconciler.reconcileWorkflows({ cursor: null })).toMatchObject({ restarted: 1, closed: 1 });
    expect(await read(terminated.id)).toMatchObject({
      status: 'canceled',
      text: 'The workflow was terminated by an operator.',
    });
    const stop = await runtime.startReportWorker();
    await until(async () => (await read(lost.id))['status'] === 'succeeded');
    await stop();
  });

  it('is left standing and reported when its workflow is stuck, however long it takes', async () => {
    const { id } = await requested();
    await until(async () => (await runtime.status(wf(id)).catch(() => '')) === 'RUNNING');
    const { connection } = runtime.client;
    const dataConverter = createDataConverter([{ id: 'other', key: Buffer.alloc(32, 9) }]);
    const { runId } = await new Client({ connection, namespace: runtime.namespace, dataConverter }).workflow
      .start(REPORT_WORKFLOW, {
        workflowId: wf(id),
        taskQueue: TASK_QUEUES.activity,
        args: [{ id }],
        workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      })
      .then((handle) => handle.describe());
    await runtime.db.query(`update activity set modification_time = now() - interval '1 hour' where id = $1`, [id]);
    const stop = await runtime.startReportWorker();
    const reported: string[] = [];
    const reconciler = runtime.reconcilerWith(runtime.client, { stuck: (reason) => reported.push(reason) });
    const attempts = async () =>
      (await runtime.client.workflow.getHandle(wf(id)).describe()).raw.pendingWorkflowTask?.attempt ?? 0;
    await until(async () => (await attempts()) >= 3);
    await until(async () => {
      expect(await reconciler.reconcileWorkflows({ cursor: null })).toMatchObject({ restarted: 0, closed: 0 });
      return reported.length > 0;
    });
    expect(reported).toEqual(['task']);
    expect((await runtime.client.workflow.getHandle(wf(id)).describe()).runId).toBe(runId);
    await runtime.client.workflow.getHandle(wf(id)).terminate('by an operator');
    expect(await reconciler.reconcileWorkflows({ cursor: null })).toMatchObject({ restarted: 0, closed: 1 });
    await stop();
  });

  it('is started again where no build that knows it is left', async () => {
    const { id } = await requested();
    await until(async () => (await runtime.status(wf(id)).catch(() => '')) === 'RUNNING');
    const { runId } = await runtime.client.workflow.getHandle(wf(id)).describe();
    expect(await runtime.reconciler.reconcileWorkflows({ cursor: null })).toMatchObject({ restarted: 0, closed: 0 });
    await runtime.db.query(`update activity set modification_time = now() - interval '1 hour' where id = $1`, [id]);
    expect(await runtime.reconciler.reconcileWorkflows({ cursor: null })).toMatchObject({ restarted: 1, closed: 0 });
    const again = await runtime.client.workflow.getHandle(wf(id)).describe();
    expect(again.runId).not.toBe(runId);
    expect(again.status.name).toBe('RUNNING');
    const stop = await runtime.startReportWorker();
    await until(async () => (await read(id))['status'] === 'succeeded');
    await stop();
  });
});
