import { Connection } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BootstrapError, bootstrap } from '../../temporal/bootstrap.ts';
import { connectClient, type TemporalClient } from '../../temporal/client/connection.ts';
import {
  ACTIVITY_RETENTION_SCHEDULE_ID,
  AUDIT_RETENTION_SCHEDULE_ID,
  HASH_ID_DATABASES_SCHEDULE_ID,
  RECONCILE_SCHEDULE_ID,
  RECONCILE_WORKFLOW,
} from '../../workflows/contracts/housekeeping.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes.ts';
import { createTestNamespace } from '../support/temporal/temporal.ts';
import { TEST_KEYS, until } from '../support/temporal/workflow-environment.ts';

const DAY_MS = 86_400_000;
let settings: { temporalAddress: string; temporalNamespace: string; encryptionKeys: typeof TEST_KEYS };
let connection: Connection;
let temporal: TemporalClient;

beforeAll(async () => {
  const { address, namespace } = await createTestNamespace();
  settings = { temporalAddress: address, temporalNamespace: namespace, encryptionKeys: TEST_KEYS };
  connection = await Connection.connect({ address });
  temporal = await connectClient(settings);
});

afterAll(async () => {
  await temporal?.close();
  await connection?.close();
});

const scheduleIds = async () => {
  const ids: string[] = [];
  for await (const { scheduleId } of temporal.client.schedule.list()) ids.push(scheduleId);
  return ids.sort();
};

const retentionOf = async (namespace: string) => {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return optionalTsToMs(config?.workflowExecutionRetentionTtl);
};

describe('bootstrap', () => {
  it('prepares a namespace that was not there', async () => {
    const fresh = { ...settings, temporalNamespace: `${settings.temporalNamespace}-fresh` };
    await bootstrap(fresh);
    expect(await retentionOf(fresh.temporalNamespace)).toBe(30 * DAY_MS);
    const client = await connectClient(fresh);
    // The reconciler's schedule may have come due meanwhile.
    expect((await client.client.workflow.count(`WorkflowType != '${RECONCILE_WORKFLOW}'`)).count).toBe(0);
    await client.close();
  });

  it('finds the search attributes that the local server created its namespace with', async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'flotilla-test' });
    expect(Object.keys(customAttributes!).sort()).toEqual(['FlotillaTest', 'FlotillaTestToo']);
  });

  it('gives an existing namespace attributes and schedules, however often it runs, and keeps its retention', async () => {
    await Promise.all([bootstrap(settings), bootstrap(settings)]);
    await bootstrap(settings);
    const namespace = settings.temporalNamespace;
    expect(await retentionOf(namespace)).toBe(DAY_MS);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    for (const { name } of Object.values(SEARCH_ATTRIBUTES)) expect(customAttributes).toHaveProperty(name);
    await until(async () => (await scheduleIds()).length === 4);
    expect(await scheduleIds()).toEqual([
      ACTIVITY_RETENTION_SCHEDULE_ID,
      AUDIT_RETENTION_SCHEDULE_ID,
      HASH_ID_DATABASES_SCHEDULE_ID,
      RECONCILE_SCHEDULE_ID,
    ]);
  });

  it('raises the day of a namespace that the local server made itself, and no other retention', async () => {
    const { namespace } = await createTestNamespace();
    const local = { ...settings, temporalNamespace: namespace };
    await bootstrap(local, 60_000, { isLocal: true });
    expect(await retentionOf(namespace)).toBe(30 * DAY_MS);
    const config = { workflowExecutionRetentionTtl: msToTs(7 * DAY_MS) };
    await connection.workflowService.updateNamespace({ namespace, config });
    await bootstrap(local, 60_000, { isLocal: true });
    expect(await retentionOf(namespace)).toBe(7 * DAY_MS);
  });

  it('removes system schedules that are not declared, leaves others, and keeps a paused one paused', async () => {
    const action = { type: 'startWorkflow', workflowType: RECONCILE_WORKFLOW, taskQueue: 'none' } as const;
    const spec = { intervals: [{ every: '30d' }] } as const;
    for (const scheduleId of ['system/old', 'usg/1']) {
      await temporal.client.schedule.create({ scheduleId, spec: { intervals: [...spec.intervals] }, action });
    }
    await temporal.client.schedule.getHandle(RECONCILE_SCHEDULE_ID).pause('by an operator');
    await until(async () => (await scheduleIds()).length === 6);
    await bootstrap(settings);
    await until(async () => (await scheduleIds()).length === 5);
    expect(await scheduleIds()).toEqual([
      ACTIVITY_RETENTION_SCHEDULE_ID,
      AUDIT_RETENTION_SCHEDULE_ID,
      HASH_ID_DATABASES_SCHEDULE_ID,
      RECONCILE_SCHEDULE_ID,
      'usg/1',
    ]);
    expect((await temporal.client.schedule.getHandle(RECONCILE_SCHEDULE_ID).describe()).state.paused).toBe(true);
  });

  it('gives the reason when the server does not respond', async () => {
    const away = { ...settings, temporalAddress: '127.0.0.1:1' };
    await expect(bootstrap(away, 300)).rejects.toThrow(BootstrapError);
  });
});
