import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { drivenAmong } from '../../src/persistence/repositories/restore.repository.ts';
import type { Sql } from '../../src/persistence/sql.ts';
import { ACTIVITY_WORKFLOW } from '../../workflows/contracts/activity.contract.ts';
import { LANE_WORKFLOW } from '../../workflows/contracts/lane.contract.ts';
import { REPORT_WORKFLOW } from '../../workflows/contracts/report.contract.ts';

const CHUNK = 200;
const REASON = 'the database was restored to a time before this activity';
const RUNNING = `ExecutionStatus = 'Running' AND WorkflowType IN ('${ACTIVITY_WORKFLOW}', '${LANE_WORKFLOW}', '${REPORT_WORKFLOW}')`;
/** A workflow of an activity, or of a lane of it. */
const OWNER = /^activity\/(\d{1,10})(?:\/lane\/\d+)?$/;

/**
 * Terminates every workflow that drives nothing: the rows it was started for are not there, or have ended.
 *
 * @returns ids of the terminated workflows
 * @remarks Idempotent. For a database that is older than the server; rows in the course of ending lose nothing by it,
 * as they decide and not their workflow.
 */
export async function terminateOrphans(db: Sql, client: Client): Promise<string[]> {
  const terminated: string[] = [];
  for await (const chunk of runningWorkflows(client)) {
    const driven = await drivenAmong(
      db,
      chunk.map((id) => ({ id, owner: Number(OWNER.exec(id)?.[1] ?? 0) })),
    );
    for (const id of chunk) {
      if (driven.has(id)) continue;
      if (await terminate(client, id)) terminated.push(id);
    }
  }
  return terminated;
}

async function* runningWorkflows(client: Client): AsyncGenerator<string[]> {
  let chunk: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: RUNNING, pageSize: CHUNK })) {
    chunk.push(workflowId);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function terminate(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).terminate(REASON);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
