import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrap } from '../../temporal/bootstrap.ts';
import { connectClient, type TemporalClient } from '../../temporal/client/connection.ts';
import { createStarter } from '../../workers/dispatcher/starter.ts';
import { WAKE_UP_SIGNAL } from '../../workflows/contracts/activity.contract.ts';
import { OPERATION_WORKFLOW } from '../../workflows/contracts/workflow-types.ts';
import { FakeBatches } from '../support/activities/fakes.ts';
import { createTestNamespace } from '../support/temporal/temporal.ts';
import { countEvents, quietRuntime, TEST_KEYS, until, withWorker } from '../support/temporal/workflow-environment.ts';

const CANARY = `canary-${randomBytes(8).toString('hex')}`;
let connection: Connection;
let native: NativeConnection;
let temporal: TemporalClient;
let namespace: string;
let address: string;

beforeAll(async () => {
  quietRuntime();
  const server = await createTestNamespace();
  ({ address, namespace } = server);
  const settings = { temporalAddress: server.address, temporalNamespace: namespace, encryptionKeys: TEST_KEYS };
  await bootstrap(settings);
  temporal = await connectClient(settings);
  connection = await Connection.connect({ address: server.address });
  native = await NativeConnection.connect({ address: server.address });
});

afterAll(async () => {
  await temporal?.close();
  await connection?.close();
  await native?.close();
});

/** Everything the server stores of a workflow, in its own bytes. */
async function storedBytes(workflowId: string): Promise<Buffer> {
  const execution = { workflowId };
  const history = await connection.workflowService.getWorkflowExecutionHistory({ namespace, execution });
  const description = await connection.workflowService.describeWorkflowExecution({ namespace, execution });
  const { GetWorkflowExecutionHistoryResponse, DescribeWorkflowExecutionResponse } =
    proto.temporal.api.workflowservice.v1;
  return Buffer.concat([
    GetWorkflowExecutionHistoryResponse.encode(history).finish(),
    DescribeWorkflowExecutionResponse.encode(description).finish(),
  ]);
}

describe('what the Temporal server stores', () => {
  it('shows neither payloads nor failure texts nor summaries', async () => {
    const batches = new FakeBatches();
    const batch = 900_000 + Math.floor(Math.random() * 100_000);
    batches.add(batch, 2, { computer: { id: 1, title: CANARY } });
    batches.failures = 5;
    batches.failureText = `password ${CANARY} is wrong`;
    const workflowId = `activity/${batch}`;
    const setup = { connection: native, namespace, activities: batches.activities(temporal.client) };
    await withWorker(setup, async (taskQueue) => {
      await temporal.client.workflow.start(OPERATION_WORKFLOW, {
        taskQueue,
        workflowId,
        args: [{ batch, single: true, note: CANARY }],
        memo: { note: CANARY },
        staticSummary: CANARY,
        staticDetails: CANARY,
      });
      await until(() => batches.progress(batch).open === 2 && batches.calls.length >= 6);
      batches.report(batch, 0, 'failed');
      batches.report(batch, 1, 'failed');
      await temporal.client.workflow.getHandle(workflowId).signal(WAKE_UP_SIGNAL);
      await temporal.client.workflow
        .getHandle(workflowId)
        .result()
        .catch(() => undefined);
    });
    const bytes = await storedBytes(workflowId);
    expect(bytes.length).toBeGreaterThan(1000);
    expect(bytes.includes('processPendingEvents')).toBe(true);
    expect(bytes.includes(CANARY)).toBe(false);
    expect(bytes.includes('password')).toBe(false);
    expect(bytes.includes('failed on the computer')).toBe(false);
    expect(bytes.includes('batch.workflow.ts')).toBe(false);
  });

  it('cannot be read with another key, and nothing is done then', async () => {
    const encryptionKeys = [{ id: 'test', key: randomBytes(32) }];
    const other = await connectClient({ temporalAddress: address, temporalNamespace: namespace, encryptionKeys });
    const batches = new FakeBatches();
    const batch = 800_000 + Math.floor(Math.random() * 100_000);
    batches.add(batch, 1);
    const handle = temporal.client.workflow.getHandle(`activity/${batch}`);
    const setup = { connection: native, namespace, activities: batches.activities(temporal.client) };
    await withWorker(setup, async (taskQueue) => {
      await other.client.workflow.start(OPERATION_WORKFLOW, {
        taskQueue,
        workflowId: handle.workflowId,
        args: [{ batch, single: true }],
      });
      await until(async () => (await countEvents(handle)).of('workflowTaskFailed') > 0);
    });
    expect(batches.calls).toEqual([]);
    await handle.terminate();
    await other.close();
  });

  it('accepts the longest summary an activity can have', async () => {
    const starter = createStarter(temporal.client, 'http://localhost:8080');
    const row = {
      batch: null,
      workflowId: `activity/${700_000 + Math.floor(Math.random() * 100_000)}`,
      single: false,
      isWholeGroup: false,
      operationId: null,
      activityId: 1,
      accountId: 1,
      type: 'ActivityGroup',
      summary: 'ü€😀'.repeat(200),
      groupId: 1,
      computerId: null,
      personId: null,
      profileId: null,
      computers: 100,
    };
    expect(await starter.start(row, 'reject')).toBe(true);
    expect(await starter.start(row, 'reject')).toBe(false);
    await temporal.client.workflow.getHandle(row.workflowId).terminate();
  });
});
