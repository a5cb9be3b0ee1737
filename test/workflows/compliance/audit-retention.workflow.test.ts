import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { describe, expect } from 'vitest';
import type { AuditRetentionActivities } from '../../../workflows/contracts/activities.ts';
import {
  AUDIT_RETENTION_STEPS,
  AUDIT_RETENTION_WORKFLOW,
  type AuditRetentionInput,
} from '../../../workflows/contracts/housekeeping.contract.ts';
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
