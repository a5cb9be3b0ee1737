import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { describe, expect } from 'vitest';
import type { AuditRetentionActivities } from '../../../workflows/contracts/activities.ts';
import type { ReportInput } from '../../../workflows/contracts/activity.contract.ts';
import {
  AUDIT_RETENTION_STEPS,
  AUDIT_RETENTION_WORKFLOW,
  type AuditRetentionInput,
} from '../../../workflows/contracts/housekeeping.contract.ts';
import { REPORT_WORKFLOW } from '../../../workflows/contracts/workflow-types.ts';
import { FakeReports } from '../../support/activities/fakes.ts';
import { it } from '../../support/temporal/skipped-time.ts';
import { countEvents, withWorker } from '../../support/temporal/workflow-environment.ts';

describe('auditRetention', () => {
  const run = (
    { nativeConnection: connection, client }: TestWorkflowEnvironment,
    activities: AuditRetentionActivities,
    workflowId: string,
  ) =>
    withWorker({ connection, activities }, (taskQueue) =>
      client.workflow.execute<(input: AuditRetentionInput) => Promise<{ deletedCount: number }>>(
        AUDIT_RETENTION_WORKFLOW,
        { taskQueue, workflowId, args: [{ deletedCount: 0 }] },
      ),
    );

  it('continues until nothing is due, in runs of a bounded number of steps', async ({ server }) => {
    let calls = 0;
    const end = AUDIT_RETENTION_STEPS + 3;
    const purgeExpiredAudits = async () => ({ deletedCount: 2, runs: [], more: ++calls < end });
    expect(await run(server, { purgeExpiredAudits }, 'retention-long')).toEqual({ deletedCount: 2 * end });
    expect(calls).toBe(end);
    expect((await countEvents(server.client.workflow.getHandle('retention-long'))).total).toBeLessThan(15);
  });

  it('waits for an unavailable database', async ({ server }) => {
    let calls = 0;
    const purgeExpiredAudits = async () => {
      if (++calls < 10) throw new Error('the database is away');
      return { deletedCount: 1, runs: [], more: false };
    };
    const before = await server.currentTimeMs();
    expect(await run(server, { purgeExpiredAudits }, 'retention-away')).toEqual({ deletedCount: 1 });
    expect((await server.currentTimeMs()) - before).toBeGreaterThan(30_000);
  });
});

describe('reportActivity', () => {
  it('gives up after thirty tries over twenty minutes, and then fails with its activity', async ({ server }) => {
    const reports = new FakeReports();
    let tries = 0;
    const writeReport = async () => {
      tries += 1;
      throw new Error('the database is away');
    };
    const before = await server.currentTimeMs();
    const { nativeConnection: connection, client } = server;
    const activities = { ...reports.activities(client), writeReport };
    const result = await withWorker({ connection, activities }, (taskQueue) =>
      client.workflow
        .execute<(input: ReportInput) => Promise<void>>(REPORT_WORKFLOW, {
          taskQueue,
          workflowId: 'activity/1',
          args: [{ id: 1 }],
        })
        .then(
          () => null,
          (error: { cause?: { type?: string } }) => error.cause?.type,
        ),
    );
    expect(result).toBe('ReportFailure');
    expect(reports.ends).toEqual(['failed']);
    expect(tries).toBe(30);
    const minutes = ((await server.currentTimeMs()) - before) / 60_000;
    expect(minutes).toBeGreaterThan(20);
  });
});
