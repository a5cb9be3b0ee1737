import { describe, expect } from 'vitest';
import type { ReportInput } from '../../../workflows/contracts/activity.contract.ts';
import { REPORT_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { FakeReports } from '../../support/activities/fakes.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import { failureOf, withReportWorker, withWorker } from '../../support/temporal/workflow-environment.ts';

const MINUTE_MS = 60_000;

describe('reportActivity', () => {
  it('gives up after thirty tries over twenty minutes, and then fails with its activity', async ({ server }) => {
    const { nativeConnection: connection, client } = server;
    const reports = new FakeReports();
    let tries = 0;
    const writeReport = async () => {
      tries += 1;
      throw new Error('the database is away');
    };
    const activities = { ...reports.activities(client), writeReport };
    const startedAt = await server.currentTimeMs();

    const failure = await withWorker({ connection, activities }, (taskQueue) =>
      withReportWorker({ connection, activities }, async () => {
        const options = { taskQueue, workflowId: 'activity/1', args: [{ id: 1 }] as [ReportInput] };
        return failureOf(await client.workflow.start<(input: ReportInput) => Promise<void>>(REPORT_WORKFLOW, options));
      }),
    );

    expect(failure).toMatchObject({ type: 'ReportFailure' });
    expect(reports.ends).toEqual(['failed']);
    expect(tries).toBe(30);
    expect((await server.currentTimeMs()) - startedAt).toBeGreaterThan(20 * MINUTE_MS);
  });
});
