import type { Client } from '@temporalio/client';
import { drivenAmong } from '../../src/persistence/activities/restore.repository.ts';
import type { Sql } from '../../src/persistence/database/sql.ts';
import { parseWorkflowOwner } from '../../workflows/contracts/activity.contract.ts';
import { BATCH_TYPES, GROUP_TYPES, isOfType, REPORT_TYPES } from '../../workflows/contracts/workflow-types.ts';
import { ignoreNotFound } from '../ignore-not-found.ts';
import { workflowIdsOf } from '../reconciler/visibility.ts';
import { ORPHANED } from './close-events.ts';

const OURS = isOfType([...GROUP_TYPES, ...BATCH_TYPES, ...REPORT_TYPES]);
const RUNNING = `ExecutionStatus = 'Running' AND ${OURS}`;
const CLOSED = `ExecutionStatus != 'Running' AND ${OURS}`;

/** The highest id of an activity among the workflows that began last and those that ended last; 0 without any. */
export async function highestActivity(client: Client): Promise<number> {
  let highest = 0;
  for (const query of [RUNNING, CLOSED]) {
    // A server lists the youngest first.
    const { value: ids = [] } = (await workflowIdsOf(client, query).next()) as { value?: string[] };
    for (const id of ids) highest = Math.max(highest, parseWorkflowOwner(id) ?? 0);
  }
  return highest;
}

/**
 * Terminates every workflow that drives nothing: the rows it was started for are not there, or have ended.
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
      if (await ignoreNotFound(client.workflow.getHandle(id).terminate(ORPHANED))) terminated.push(id);
    }
  }
  return terminated;
}
