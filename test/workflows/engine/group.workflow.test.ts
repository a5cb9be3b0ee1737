import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect } from 'vitest';
import type { OpenOperation } from '../../../workflows/contracts/activities.ts';
import { OPERATIONS_QUERY } from '../../../workflows/contracts/queries.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contracts/search-attributes.ts';
import { itWithGroup as it } from '../../support/temporal/skipped-time.ts';
import { countEvents, failureOf, statusOf, until } from '../../support/temporal/workflow-environment.ts';

const detailsOf = async (handle: Pick<WorkflowHandle, 'query'>) =>
  (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;

describe('activity', () => {
  it('runs a batch per plan as visible children and completes with their counts', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const ids = addBatches(1, 1, 1);
    const handle = await startGroup();
    await untilOpened();

    const description = await server.client.workflow.getHandle(`activity/${ids[0]}`).describe();
    expect(description.parentExecution?.workflowId).toBe(handle.workflowId);
    expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.accountId)).toBe('1');
    expect(description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.computerId)).toBe(String(ids[0]));
    expect(`activity/${description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.groupId)}`).toBe(handle.workflowId);
    for (const batch of ids) await report(batch, 'succeeded');
    expect(await handle.result()).toEqual({ succeeded: 3, failed: 0, canceled: 0 });
    // What a group costs the Temporal server, which stores every event.
    const events = await countEvents(handle);
    const tasks = events.of('workflowTaskScheduled');
    expect(events.total - tasks * 3).toBe(15);
    // One at the start, and one for each batch that starts and each that ends; what comes together shares one.
    expect(tasks).toBeLessThanOrEqual(7);
  });

  it('counts computers, whatever they have to do, and names batches of many with theirs', async ({
    batches,
    addBatches,
    startGroup,
    untilOpened,
  }) => {
    const [first, ...others] = addBatches(3, 20, 20, 20);
    batches.add(first, 3, { single: true, computers: 1, computer: { id: first, title: `web-${first}` } });
    for (const [place, batch] of others.entries()) batches.add(batch, 20, { summary: `computers of batch ${place}` });
    const handle = await startGroup();
    await untilOpened();

    expect(await detailsOf(handle)).toBe(
      `0 of 61 computers done; waiting for web-${first}, computers of batch 0, computers of batch 1 and 20 more`,
    );
    await handle.cancel();
    await failureOf(handle);
  });

  it('does not count a batch as done that another workflow drives', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
    driveElsewhere,
  }) => {
    const [first, second, third] = addBatches(1, 1, 1);
    await driveElsewhere(first);
    const handle = await startGroup();
    await untilOpened();

    await until(async () => (await detailsOf(handle)).startsWith(`0 of 3 computers done; waiting for web-${first}`));
    for (const batch of [second, third]) await report(batch, 'succeeded');
    await until(async () => (await detailsOf(handle)) === '2 of 3 computers done');
    expect(await statusOf(server.client, `activity/${second}`)).toBe('COMPLETED');
    await report(first, 'succeeded');
    await handle.result();
  });

  it('shows operators how many are done and who is missing', async ({
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second, third] = addBatches(1, 1, 1);
    const handle = await startGroup();
    await untilOpened();

    await report(first, 'succeeded');
    await until(
      async () => (await detailsOf(handle)) === `1 of 3 computers done; waiting for web-${second}, web-${third}`,
    );
    await report(second, 'succeeded');
    await report(third, 'succeeded');
    await handle.result();
  });

  it('lists the open operations of all computers and what each waits for, read again as time passes', async ({
    server,
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second] = addBatches(1, 2);
    const handle = await startGroup();
    const listed = () => handle.query<OpenOperation[]>(OPERATIONS_QUERY);
    const operation = (batch: number, row: number, waitsFor: OpenOperation['waitsFor']) => ({
      computer: `web-${row}`,
      operation: row,
      waitsFor,
      workflowId: `activity/${batch}`,
    });
    await untilOpened();

    expect(await listed()).toEqual([
      operation(first, 0, 'delivery'),
      operation(second, 0, 'delivery'),
      operation(second, 1, 'delivery'),
    ]);
    await server.sleep('20 s');
    await until(() => batches.calls.includes('getGroupProgress'));
    await until(async () => (await listed())[0]?.waitsFor === 'result');
    await report(first, 'succeeded');
    await until(async () => (await listed()).length === 2);
    expect(await listed()).toEqual([operation(second, 0, 'result'), operation(second, 1, 'result')]);
    await handle.cancel();
    await failureOf(handle);
    expect(await listed()).toEqual([]);
  });

  it('reads its open operations ever less often', async ({
    server,
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [batch] = addBatches(1);
    const handle = await startGroup();
    await untilOpened();

    await server.sleep('21 days');
    const refreshes = batches.calls.filter((call) => call === 'getGroupProgress').length;
    expect(refreshes).toBeGreaterThan(20);
    expect(refreshes).toBeLessThan(60);
    await report(batch, 'succeeded');
    await handle.result();
    expect((await countEvents(handle)).total).toBeLessThan(500);
  });

  it('fails when a computer fails, after all others have ended', async ({
    server,
    addBatches,
    startGroup,
    untilOpened,
    report,
  }) => {
    const [first, second] = addBatches(1, 1);
    const handle = await startGroup();
    await untilOpened();

    await report(first, 'failed');
    await until(async () => (await statusOf(server.client, `activity/${first}`)) !== 'RUNNING');
    expect(await statusOf(server.client, handle.workflowId)).toBe('RUNNING');
    await report(second, 'succeeded');
    const failure = await failureOf(handle);
    expect(failure).toMatchObject({ type: 'AgentFailure', category: 'BENIGN' });
  });

  it('waits by its rows for a batch that another workflow drives already', async ({
    batches,
    addBatches,
    startGroup,
    untilOpened,
    report,
    driveElsewhere,
  }) => {
    const [first, second] = addBatches(1, 1);
    await driveElsewhere(first);
    const handle = await startGroup();
    await untilOpened();

    await report(second, 'succeeded');
    await until(() => batches.calls.includes('getGroupProgress'));
    await report(first, 'succeeded');
    expect(await handle.result()).toEqual({ succeeded: 2, failed: 0, canceled: 0 });
  });

  it('starts when the database is available again', async ({ batches, addBatches, startGroup }) => {
    const [batch] = addBatches(1);
    batches.failures = 4;
    const handle = await startGroup();

    batches.report(batch, 0, 'succeeded');
    expect(await handle.result()).toMatchObject({ succeeded: 1 });
  });
});
