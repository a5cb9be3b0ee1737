import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repairGroup } from '../../../src/services/engine/repairs.ts';
import { testLogger } from '../../../tools/harness/test-log.ts';
import type { Dispatcher } from '../../../workers/dispatcher/dispatcher.ts';
import { createWorkflows } from '../../../workers/reconciler/ports.ts';
import { WAKE_UP_SIGNAL } from '../../../workflows/contracts/activity.contract.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
  type SqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { until, workflowCodeContinuingAfter } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let stopWorker: () => Promise<void>;
let dispatcher: Dispatcher;
let fleet: SqlFleet;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  stopWorker = await runtime.startWorker();
  dispatcher = runtime.startDispatcher();
  fleet = await createSqlFleet(runtime.db, 60);
});

afterAll(async () => {
  await runtime?.close();
});

async function read(id: number): Promise<{ status: string; open: number; text: string | null }> {
  const text = 'select status, open_count as open, result_text as text from activity where id = $1';
  return (await runtime.db.query<Awaited<ReturnType<typeof read>>>(text, [id]))[0]!;
}

const children = (id: number): Promise<Array<{ id: number; status: string; text: string | null; wf_id: string }>> =>
  runtime.db.query(
    `select a.id, a.status, a.result_text as text, l.wf_id from activity a join lane l on l.id = a.lane_id
     where a.parent_id = $1 order by a.id`,
    [id],
  );

/** A group of `size` whose operations are all with their computers. */
async function deliveredGroup(size: number): Promise<number> {
  const id = await fleet.act(fleet.computers.slice(0, size));
  await until(async () => {
    await fleet.deliver();
    return (await children(id)).every(({ status }) => status === 'delivered');
  });
  return id;
}

const reconcile = () => runtime.reconciler.reconcileWorkflows({ cursor: null });
const handle = (workflowId: string) => runtime.client.workflow.getHandle(workflowId);
const untilCanceled = (workflowId: string) => until(async () => (await runtime.status(workflowId)) === 'CANCELLED');

const isRejected = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => false,
    () => true,
  );

async function remove(workflowId: string): Promise<void> {
  await runtime.client.workflowService.deleteWorkflowExecution({
    namespace: runtime.namespace,
    workflowExecution: { workflowId },
  });
  await until(() => isRejected(runtime.status(workflowId)));
}

async function lose(workflowId: string): Promise<void> {
  await remove(workflowId);
  await until(async () => (await reconcile()).restarted === 1);
}

/** To its first task, as an operator does. */
async function reset(workflowId: string): Promise<void> {
  const { events } = await handle(workflowId).fetchHistory();
  const first = events!.find((event) => event.workflowTaskCompletedEventAttributes)!;
  await runtime.client.workflowService.resetWorkflowExecution({
    namespace: runtime.namespace,
    workflowExecution: { workflowId, runId: (await handle(workflowId).describe()).runId },
    reason: 'by an operator',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first.eventId!,
  });
  await until(async () => {
    const again = (await handle(workflowId).fetchHistory()).events ?? [];
    return again.some((event) => event.timerStartedEventAttributes);
  });
}

describe('reconciler', () => {
  it('leaves workflows that run unchanged', async () => {
    const id = await deliveredGroup(2);
    expect(await reconcile()).toMatchObject({ restarted: 0, closed: 0 });
    await fleet.report();
    await until(async () => (await read(id)).status === 'succeeded');
  });

  it('closes the operation of a terminated batch with a text, and its group continues', async () => {
    const id = await deliveredGroup(2);
    const [first] = await children(id);
    await handle(first!.wf_id).terminate('by an operator');
    await until(async () => (await reconcile()).closed === 1);
    const [closed, other] = await children(id);
    expect(closed).toMatchObject({ status: 'canceled', text: 'The workflow was terminated by an operator.' });
    expect(other!.status).toBe('delivered');
    await fleet.report();
    await until(async () => (await read(id)).open === 0);
    await until(async () => (await runtime.status(`activity/${id}`)) !== 'RUNNING');
    expect(await runtime.status(first!.wf_id)).toBe('TERMINATED');
  });

  it('closes all operations of a terminated group, and ends its batches', async () => {
    const id = await deliveredGroup(3);
    await handle(`activity/${id}`).terminate('by an operator');
    await until(async () => (await reconcile()).closed === 1);
    expect(await read(id)).toMatchObject({ status: 'canceled', open: 0 });
    for (const child of await children(id)) {
      expect(child).toMatchObject({ status: 'canceled', text: 'The workflow was terminated by an operator.' });
      await untilCanceled(child.wf_id);
    }
    expect(await reconcile()).toMatchObject({ restarted: 0, closed: 0 });
  });

  it('ends the batches of a terminated group also when the server was unavailable half way', async () => {
    const id = await deliveredGroup(3);
    let away = true;
    const client = runtime.clientWith({
      async cancel(input, next) {
        if (!away) return await next(input);
        away = false;
        throw new Error('away');
      },
    });
    const interrupted = runtime.reconcilerWith(client);
    await handle(`activity/${id}`).terminate('by an operator');
    await until(() => isRejected(interrupted.reconcileWorkflows({ cursor: null })));
    await until(async () => (await interrupted.reconcileWorkflows({ cursor: null })).closed === 1);
    for (const child of await children(id)) {
      await untilCanceled(child.wf_id);
      expect(child).toMatchObject({ status: 'canceled', text: 'The workflow was terminated by an operator.' });
    }
  });

  it('counts what it repaired, once, also when a later step of its run fails', async () => {
    const counted: string[] = [];
    const metrics = {
      repaired: (foundBy: string, outcome: string) => counted.push(`${foundBy}: ${outcome}`),
      reconciled: () => counted.push('ended'),
      scheduleMissed: () => undefined,
    };
    const failing = { ...runtime.kinds.get('usg')!, datesDueBefore: () => Promise.reject(new Error('a later step')) };
    const interrupted = runtime.reconcilerWith(runtime.client, { metrics, kinds: new Map([['usg', failing]]) });
    const id = await deliveredGroup(2);
    await handle((await children(id))[0]!.wf_id).terminate('by an operator');
    await until(async () => {
      await expect(interrupted.reconcileWorkflows({ cursor: null })).rejects.toThrow('a later step');
      return counted.length > 0;
    });
    await runtime.reconcilerWith(runtime.client, { metrics }).reconcileWorkflows({ cursor: null });
    expect(counted).toEqual(['reconciler: closed', 'ended']);
    await fleet.report();
    await until(async () => (await read(id)).open === 0);
  });

  it('starts a lost group and its lost batches again, and they end with their rows', async () => {
    const id = await deliveredGroup(2);
    const batches = (await children(id)).map(({ wf_id }) => wf_id);
    for (const workflowId of [`activity/${id}`, ...batches]) await remove(workflowId);
    await until(async () => {
      await reconcile();
      const states = await Promise.all([`activity/${id}`, ...batches].map((wf) => runtime.status(wf).catch(() => '')));
      return states.every((state) => state === 'RUNNING');
    });
    await fleet.report();
    await until(async () => (await read(id)).status === 'succeeded');
  });

  it('starts a large batch again', async () => {
    const id = await deliveredGroup(60);
    await remove(`activity/${id}/lane/1`);
    await until(async () => (await reconcile()).restarted === 1);
    expect(await reconcile()).toMatchObject({ restarted: 0, closed: 0 });
    await fleet.report();
    await until(async () => (await read(id)).status === 'succeeded');
  });

  it.each([
    ['a large batch that was started again, no child of its group', 60, (id: number) => lose(`activity/${id}/lane/1`)],
    ['batches whose group was started again', 2, (id: number) => lose(`activity/${id}`)],
    ['batches whose group was reset', 2, (id: number) => reset(`activity/${id}`)],
  ])('leaves the cancel of a group its effect on %s', async (_, size, befall) => {
    const id = await deliveredGroup(size);
    await befall(id);
    await handle(`activity/${id}`).cancel();
    await until(async () => (await read(id)).open === 0);
    const rows = await children(id);
    expect(rows.map(({ status }) => status)).toEqual(new Array(size).fill('canceled'));
    for (const workflowId of new Set([`activity/${id}`, ...rows.map(({ wf_id }) => wf_id)])) {
      await untilCanceled(workflowId);
    }
  });

  it('closes a large batch as Canceled whose rows are canceled before the request to cancel reaches it', async () => {
    const id = await deliveredGroup(60);
    const { wf_id } = (await children(id))[0]!;
    await runtime.db.query(`insert into agent_inbox (lane_id, kind) select id, 'cancel' from lane where wf_id = $1`, [
      wf_id,
    ]);
    await until(async () => (await read(id)).status === 'canceled');
    await untilCanceled(wf_id);
  });

  it('leaves a group unchanged that ended before the check', async () => {
    const id = await deliveredGroup(2);
    await fleet.report();
    await until(async () => (await runtime.status(`activity/${id}`)) === 'COMPLETED');
    const { runId } = await handle(`activity/${id}`).describe();
    const { db, client, engine } = runtime;
    const workflows = createWorkflows({ client, publicUrl: 'http://localhost:8080' });
    expect(await repairGroup({ db, engine, workflows, logger: testLogger() }, id)).toBe('none');
    expect((await handle(`activity/${id}`).describe()).runId).toBe(runId);
  });

  it('leaves the cancel of a group its effect on a batch that continued as new', async () => {
    await dispatcher.stop();
    const id = await fleet.act(fleet.computers.slice(0, 2));
    await stopWorker();
    stopWorker = await runtime.startWorker(await workflowCodeContinuingAfter(40));
    dispatcher = runtime.startDispatcher();
    await until(async () => {
      await fleet.deliver();
      return (await children(id)).every(({ status }) => status === 'delivered');
    });
    const batch = handle((await children(id))[0]!.wf_id);
    const { runId } = await batch.describe();
    await until(async () => {
      await batch.signal(WAKE_UP_SIGNAL);
      return (await batch.describe()).runId !== runId;
    });
    await handle(`activity/${id}`).cancel();
    await until(async () => (await read(id)).status === 'canceled');
    for (const workflowId of [`activity/${id}`, ...(await children(id)).map(({ wf_id }) => wf_id)]) {
      await untilCanceled(workflowId);
    }
    await stopWorker();
    stopWorker = await runtime.startWorker();
  });
});
