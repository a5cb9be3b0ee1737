import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { USG_ACTIVITY } from '../../../src/domain/compliance/run-operations.ts';
import { readStartableActivities, readStartableBatches } from '../../../src/persistence/engine/startable.sql.ts';
import { systemClock } from '../../../src/services/common/ports.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import {
  type ActivityRuntime,
  createActivityRuntime,
  createSqlFleet,
  type SqlFleet,
} from '../../support/activities/activity-runtime.ts';
import { createUsgWorld } from '../../support/compliance/usg.ts';
import { createScriptWorld } from '../../support/scripts/scripts.ts';
import { until } from '../../support/temporal/workflow-environment.ts';

let runtime: ActivityRuntime;
let fleet: SqlFleet;

beforeAll(async () => {
  runtime = await createActivityRuntime();
  await runtime.startWorker();
  runtime.startDispatcher();
  fleet = await createSqlFleet(runtime.db, 60);
});

beforeEach(() => {
  Object.assign(runtime.events, { started: 0, canceled: 0, nudged: 0, late: 0, repaired: 0 });
});

afterAll(async () => {
  await runtime?.close();
});

interface ActivityRow {
  status: string;
  open: number;
  succeeded: number;
  failed: number;
  canceled: number;
  [key: string]: unknown;
}

async function activity(id: number): Promise<ActivityRow> {
  const [row] = await runtime.db.query<ActivityRow>(
    `select status, open_count as open, succeeded_count as succeeded, failed_count as failed,
       canceled_count as canceled from activity where id = $1`,
    [id],
  );
  return row!;
}

async function batchesOf(id: number): Promise<Array<{ id: number; wf_id: string }>> {
  return await runtime.db.query(`select id, wf_id from lane where parent_id = $1 order by ordinal`, [id]);
}

async function deliverAll(count: number): Promise<void> {
  let delivered = 0;
  await until(async () => {
    delivered += await fleet.deliver();
    return delivered === count;
  });
}

async function childrenOf(id: number): Promise<number[]> {
  const rows = await runtime.db.query<{ id: number }>('select id from activity where parent_id = $1 order by id', [id]);
  return rows.map((row) => row.id);
}

const workflowStatus = (id: number) => runtime.status(`activity/${id}`);
const emptyQueues = async () => {
  const [row] = await runtime.db.query<{ count: number }>(
    'select ((select count(*) from outbox) + (select count(*) from agent_inbox))::int as count',
  );
  return row!.count === 0;
};

describe('dispatcher', () => {
  it('runs an operation on one computer as its own top-level workflow', async () => {
    const id = await fleet.actAlone(fleet.computers[0]!);
    await deliverAll(1);
    await until(async () => (await activity(id)).status === 'delivered');
    await fleet.report();
    await until(async () => (await activity(id)).status === 'succeeded');
    await until(async () => (await workflowStatus(id)) === 'COMPLETED');
    const description = await runtime.client.workflow.getHandle(`activity/${id}`).describe();
    expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.computerId)).toBe(String(fleet.computers[0]));
    expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.accountId)).toBe(String(fleet.accountId));
    expect(await description.staticSummary()).toContain('Install snap hello');
    expect(await description.staticDetails()).toBe(`http://localhost:8080/api/v2/activities/${id}`);
    expect(await emptyQueues()).toBe(true);
  });

  it('runs a group as one child workflow per computer, and a large one as a batch', async () => {
    const small = await fleet.act(fleet.computers.slice(0, 5));
    const large = await fleet.act(fleet.computers);
    expect((await batchesOf(small)).length).toBe(5);
    expect((await batchesOf(large)).map(({ wf_id }) => wf_id)).toEqual([`activity/${large}/lane/1`]);
    await deliverAll(65);
    await fleet.report(false, 3);
    await fleet.report();
    await until(async () => (await activity(small)).open + (await activity(large)).open === 0);
    expect(await activity(small)).toMatchObject({ status: 'failed', failed: 3, succeeded: 2 });
    expect(await activity(large)).toMatchObject({ status: 'succeeded', succeeded: 60 });
    await until(
      async () => (await workflowStatus(small)) === 'FAILED' && (await workflowStatus(large)) === 'COMPLETED',
    );
  });

  it('names profile and type of a run on its workflows, less urgent than what somebody requests', async () => {
    const scripts = await createScriptWorld(runtime.db, systemClock);
    const { id: script } = await scripts.create({ type: 'one_time', timestamp: '2026-01-01T00:00:00Z' });
    const usgs = await createUsgWorld(runtime.db, systemClock);
    const usg = await usgs.create({ startDate: '2026-01-01T00:00:00Z' });
    const runs = [
      {
        profileId: `script/${script}`,
        type: 'ExecuteScriptRequest',
        group: 'ScriptRun',
        run: (await scripts.runs(script))[0]!.activity_id!,
      },
      { profileId: `usg/${usg}`, type: USG_ACTIVITY, group: 'UsgRun', run: (await usgs.runs(usg))[0]!.activity_id! },
    ];
    for (const { profileId, type, group, run } of runs) {
      const batches = await batchesOf(run);
      expect(batches).toHaveLength(2);
      for (const workflowId of [`activity/${run}`, ...batches.map(({ wf_id }) => wf_id)]) {
        await until(() => runtime.status(workflowId).then(Boolean, () => false));
        const { typedSearchAttributes, raw } = await runtime.client.workflow.getHandle(workflowId).describe();
        expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.profileId)).toBe(profileId);
        expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.activityType)).toBe(type);
        expect(raw.workflowExecutionInfo!.type!.name).toBe(
          workflowId.endsWith(`/${run}`) ? group : 'ComputerOperation',
        );
        expect(raw.workflowExecutionInfo!.priority).toMatchObject({ priorityKey: 3 });
      }
      const started = await readStartableBatches(
        runtime.db,
        batches.map(({ id }) => id),
      );
      expect(started.map((batch) => batch.profileId)).toEqual([profileId, profileId]);
    }
  });

  it('shows a run on no computer as a workflow that has completed', async () => {
    const usgs = await createUsgWorld(runtime.db, systemClock);
    const nobody = { startDate: '2026-01-01T00:00:00Z', allComputers: false, tags: ['nobody'] };
    const usg = await usgs.create(nobody);
    const run = (await usgs.runs(usg))[0]!.activity_id!;
    await until(async () => (await workflowStatus(run).catch(() => '')) === 'COMPLETED');
    const { typedSearchAttributes } = await runtime.client.workflow.getHandle(`activity/${run}`).describe();
    expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.profileId)).toBe(`usg/${usg}`);
    expect(await activity(run)).toEqual({ status: 'succeeded', open: 0, succeeded: 0, failed: 0, canceled: 0 });
    await until(emptyQueues);
  });

  it('takes what repeats a run for no run of the profile', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 1));
    await runtime.db.query(
      `update activity set parameters = '{"operation": "usg-run", "profile_id": 1}' where id = $1`,
      [id],
    );
    expect(await readStartableActivities(runtime.db, [id])).toMatchObject([{ activityId: id, profileId: null }]);
    await fleet.cancelGroup(id);
    await until(async () => (await workflowStatus(id).catch(() => '')) === 'CANCELLED');
  });

  it('starts what is in the outbox once, however many dispatchers poll it', async () => {
    const others = [runtime.startDispatcher(), runtime.startDispatcher()];
    const ids: number[] = [];
    for (let round = 0; round < 20; round += 1) ids.push(await fleet.actAlone(fleet.computers[round]!));
    await deliverAll(20);
    await fleet.report();
    await until(async () => (await Promise.all(ids.map(activity))).every(({ status }) => status === 'succeeded'));
    expect(runtime.events.started).toBe(20);
    expect(await emptyQueues()).toBe(true);
    await Promise.all(others.map((dispatcher) => dispatcher.stop()));
  });

  it('cancels a whole group before delivery, batches and workflows included', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 3));
    const batches = await batchesOf(id);
    const isRunning = async (wf: string) => (await runtime.status(wf).catch(() => '')) === 'RUNNING';
    await until(async () => (await Promise.all(batches.map(({ wf_id }) => isRunning(wf_id)))).every(Boolean));
    await fleet.cancelGroup(id);
    await until(async () => (await activity(id)).status === 'canceled');
    await until(async () => (await workflowStatus(id)) === 'CANCELLED');
    for (const { wf_id } of batches) expect(await runtime.status(wf_id)).toBe('CANCELLED');
    expect(await fleet.deliver()).toBe(0);
  });

  it('cancels a group that was canceled at once', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 2));
    await fleet.cancelGroup(id);
    await until(async () => (await activity(id)).status === 'canceled');
    await until(async () => (await workflowStatus(id)) === 'CANCELLED');
    expect(await emptyQueues()).toBe(true);
  });

  it('takes a result that comes after the cancel', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 2));
    await deliverAll(2);
    await fleet.cancelGroup(id);
    await until(async () => (await workflowStatus(id)) === 'CANCELLED');
    await fleet.report();
    await until(async () => (await activity(id)).succeeded === 2);
    expect(await activity(id)).toMatchObject({ status: 'succeeded', open: 0, canceled: 0 });
    expect(runtime.events.late).toBeGreaterThan(0);
    expect(await workflowStatus(id)).toBe('CANCELLED');
  });

  it('does not wait for the time of events that a fast clock wrote', async () => {
    const id = await fleet.actAlone(fleet.computers[0]!);
    await deliverAll(1);
    await runtime.db.query(
      `insert into agent_inbox (lane_id, activity_id, kind, ok, at)
       select lane_id, id, 'result', true, now() + interval '1 hour' from activity where id = $1`,
      [id],
    );
    await until(async () => (await workflowStatus(id)) === 'COMPLETED');
    expect(await activity(id)).toMatchObject({ status: 'succeeded' });
  });

  it('cancels the rows when an operator cancels in the UI', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 2));
    await deliverAll(2);
    const [first] = await batchesOf(id);
    await runtime.client.workflow.getHandle(first!.wf_id).cancel();
    await until(async () => (await activity(id)).canceled === 1);
    expect((await activity(id)).open).toBe(1);
    await fleet.report();
    await until(async () => (await activity(id)).open === 0);
  });

  it('starts a workflow again that was lost with its rows open', async () => {
    const id = await fleet.act(fleet.computers.slice(0, 1));
    await deliverAll(1);
    const [batch] = await batchesOf(id);
    await until(async () => (await activity((await childrenOf(id))[0]!)).status === 'delivered');
    await runtime.client.workflowService.deleteWorkflowExecution({
      namespace: runtime.namespace,
      workflowExecution: { workflowId: batch!.wf_id },
    });
    await until(() =>
      runtime.status(batch!.wf_id).then(
        () => false,
        () => true,
      ),
    );
    await fleet.report();
    await until(async () => (await activity(id)).status === 'succeeded');
    expect(runtime.events.repaired).toBeGreaterThan(0);
  });

  it('closes the rows of a workflow that an operator terminated, with a text, when an event arrives', async () => {
    const id = await fleet.actAlone(fleet.computers[0]!);
    await deliverAll(1);
    await until(async () => (await activity(id)).status === 'delivered');
    await runtime.client.workflow.getHandle(`activity/${id}`).terminate('by test');
    const [{ lane_id: batch }] = (await runtime.db.query('select lane_id from activity where id = $1', [id])) as [
      { lane_id: number },
    ];
    await runtime.db.query(`insert into agent_inbox (lane_id, activity_id, kind) values ($1, $2, 'delivered')`, [
      batch,
      id,
    ]);
    await until(async () => (await activity(id)).status === 'canceled');
    const [row] = await runtime.db.query<{ result_text: string }>('select result_text from activity where id = $1', [
      id,
    ]);
    expect(row!.result_text).toContain('terminated');
    expect(await workflowStatus(id)).toBe('TERMINATED');
  });

  it('continues after an outage with the commands and events that waited', async () => {
    const away = await createActivityRuntime();
    try {
      const others = await createSqlFleet(away.db, 2);
      const id = await others.act();
      const status = async () =>
        (await away.db.query<{ status: string }>('select status from activity where id = $1', [id]))[0]!.status;
      const first = away.startDispatcher();
      await away.startWorker();
      await until(async () => (await others.deliver()) === 2 || (await status()) === 'delivered');
      await first.stop();
      await others.report();
      expect(await status()).not.toBe('succeeded');
      away.startDispatcher();
      await until(
        async () => (await others.report()) >= 0 && (await others.deliver()) >= 0 && (await status()) === 'succeeded',
      );
    } finally {
      await away.close();
    }
  });
});
