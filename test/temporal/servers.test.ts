import { Client, Connection } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTimeSkippingEnvironment } from '../support/temporal/skipped-time.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal/temporal.ts';

describe('the Temporal server of a test run', () => {
  let place: TestNamespace;
  let connection: Connection;

  beforeAll(async () => {
    place = await createTestNamespace();
    connection = await Connection.connect({ address: place.address });
  });

  afterAll(() => connection.close());

  it('starts workflows in a fresh namespace and counts them', async () => {
    const client = new Client({ connection, namespace: place.namespace });
    const handle = await client.workflow.start('anything', { taskQueue: 'nobody', workflowId: 'one' });
    await expect(handle.describe()).resolves.toMatchObject({ workflowId: 'one', status: { name: 'RUNNING' } });
  });
});

describe('the time-skipping server', () => {
  let environment: TestWorkflowEnvironment;

  beforeAll(async () => {
    environment = await createTimeSkippingEnvironment();
  });

  afterAll(() => environment.teardown());

  it('skips a month in an instant', async () => {
    const before = await environment.currentTimeMs();
    await environment.sleep('30 days');
    expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(30 * 24 * 3600 * 1000);
  });
});
