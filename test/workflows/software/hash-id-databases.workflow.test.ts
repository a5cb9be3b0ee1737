import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { HashIdDatabaseActivities } from '../../../workflows/contracts/activities.ts';
import {
  HASH_ID_DATABASES_SCHEDULE_ID,
  HASH_ID_DATABASES_WORKFLOW,
  type HashIdDatabasesResult,
} from '../../../workflows/contracts/housekeeping.contract.ts';
import { type ActivityRuntime, createActivityRuntime } from '../../support/activities/activity-runtime.ts';
import { anAccount } from '../../support/agents/gateway-world.ts';
import { insertComputer, insertPackage, reportPackages } from '../../support/computers/computers.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import { countEvents, until, withWorker } from '../../support/temporal/workflow-environment.ts';

/** Releases by their packages; some tries fail. */
function steps(releases: Record<string, number>, failures = 0) {
  const built: string[] = [];
  let left = failures;
  const activities: HashIdDatabaseActivities = {
    listReleases: async () => ({ codeNames: Object.keys(releases) }),
    async buildHashIdDatabase({ codeName }) {
      if (left-- > 0) throw new Error('the database is away');
      built.push(codeName);
      return { packages: releases[codeName]! };
    },
  };
  return { activities, built };
}

async function run({ nativeConnection: connection, client }: TestWorkflowEnvironment, activities: object) {
  const workflowId = `hash-id-databases-${randomUUID()}`;
  const result = await withWorker({ connection, activities }, (taskQueue) =>
    client.workflow.execute<() => Promise<HashIdDatabasesResult>>(HASH_ID_DATABASES_WORKFLOW, {
      taskQueue,
      workflowId,
    }),
  );
  return { result, events: (await countEvents(client.workflow.getHandle(workflowId))).total };
}

describe('hashIdDatabases', () => {
  it('builds one file after the other', async ({ server }) => {
    const { activities, built } = steps({ noble: 70_000, jammy: 60_000 });
    const { result, events } = await run(server, activities);
    expect(result).toEqual({ noble: 70_000, jammy: 60_000 });
    expect(built).toEqual(['noble', 'jammy']);
    expect(events).toBeLessThan(15);
  });

  it('has nothing to do without a release', async ({ server }) => {
    expect((await run(server, steps({}).activities)).result).toEqual({});
  });

  it('waits for an unavailable database and leaves no release out', async ({ server }) => {
    const { activities, built } = steps({ noble: 1, jammy: 2 }, 10);
    const before = await server.currentTimeMs();
    expect((await run(server, activities)).result).toEqual({ noble: 1, jammy: 2 });
    expect(built).toEqual(['noble', 'jammy']);
    expect((await server.currentTimeMs()) - before).toBeGreaterThan(30_000);
  });
});

describe('the schedule of the hash-id databases', () => {
  let runtime: ActivityRuntime;

  beforeAll(async () => {
    runtime = await createActivityRuntime();
    await runtime.startScheduleWorker();
  });
  afterAll(() => runtime?.close());

  it('builds them of what computers reported', async () => {
    const { db, client } = runtime;
    const { id: accountId } = await anAccount(db);
    const computer = await insertComputer(db, { accountId });
    await db.query(`update computer set distribution_info = '{"code_name": "noble"}' where id = $1`, [computer]);
    await reportPackages(db, computer, { available: [await insertPackage(db, 'hello', '1')] });
    await client.schedule.getHandle(HASH_ID_DATABASES_SCHEDULE_ID).trigger();
    const names = () => db.query('select code_name from hash_id_database');
    await until(async () => (await names()).length === 1);
    expect(await names()).toEqual([{ code_name: 'noble' }]);
  });
});
