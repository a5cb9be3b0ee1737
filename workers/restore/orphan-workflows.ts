import type { Client } from '@temporalio/client';
import { drivenAmong } from '../../src/persistence/repositories/restore.repository.ts';
import type { Sql } from '../../src/persistence/sql.ts';
import { ACTIVITY_WORKFLOW, parseWorkflowOwner } from '../../workflows/contracts/activity.contract.ts';
import { LANE_WORKFLOW } from '../../workflows/contracts/lane.contract.ts';
import { REPORT_WORKFLOW } from '../../workflows/contracts/report.contract.ts';
import { reached } from '../reached.ts';
import { workflowIdsOf } from '../reconciler/visibility.ts';

const REASON = 'the database was restored to a time before this activity';
const RUNNING = `ExecutionStatus = 'Running' AND WorkflowType IN ('${ACTIVITY_WORKFLOW}', '${LANE_WORKFLOW}', '${REPORT_WORKFLOW}')`;

/**
 * Terminates every workflow that drives nothing: the rows it was started for are not there, or have ended.
 *
 * @returns ids of the terminated workflows
 * @remarks Idempotent. For a database that is older than the server; rows in the course of ending lose nothing by it,
 * as they decide and not their workflow.
 */
export async function terminateOrphans(db: Sql, client: Client): Promise<string[]> {
  const terminated: string[] = [];
  for await (const chunk of workflowIdsOf(client, RUNNING)) {
    const driven = await drivenAmong(
      db,
      chunk.map((id) => ({ id, owner: parseWorkflowOwner(id) ?? 0 })),
    );
    for (const id of chunk) {
      if (driven.has(id)) continue;
      if (await reached(client.workflow.getHandle(id).terminate(REASON))) terminated.push(id);
    }
  }
  return terminated;
}
