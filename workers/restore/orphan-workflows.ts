import type { Client } from '@temporalio/client';
import { parseWorkflowOwner } from '../../src/domain/activities/workflow-id.ts';
import { drivenAmong } from '../../src/persistence/activities/restore.sql.ts';
import type { Sql } from '../../src/persistence/database/sql.ts';
import { BATCH_TYPES, GROUP_TYPES, isOfType, REPORT_TYPES } from '../../workflows/contracts/workflow-types.ts';
import { workflowIdsOf } from '../reconciler/visibility.ts';
import { ignoreNotFound } from '../workflow-calls.ts';
import { ORPHANED } from './close-events.ts';

const OURS = isOfType([...GROUP_TYPES, ...BATCH_TYPES, ...REPORT_TYPES]);
const RUNNING = `ExecutionStatus = 'Running' AND ${OURS}`;
const CLOSED = `ExecutionStatus != 'Running' AND ${OURS}`;

/** The highest activity id among the workflows that started last and those that ended last; 0 without any. */
export async function highestActivity(client: Client): Promise<number> {
  let highest = 0;
  for (const query of [RUNNING, CLOSED]) {
    // A server lists the newest first.
    const { value: ids = [] } = (await workflowIdsOf(client, query).next()) as { value?: string[] };
    for (const id of ids) highest = Math.max(highest, parseWorkflowOwner(id) ?? 0);
  }
  return highest;
}

/** Terminates every workflow whose rows do not exist or have ended. Idempotent. @returns their ids */
export async function terminateOrphans(db: Sql, client: Client): Promise<string[]> {
  const terminated: string[] = [];
  for await (const chunk of workflowIdsOf(client, RUNNING)) {
    const owned = chunk.map((id) => ({ id, owner: parseWorkflowOwner(id) ?? 0 }));
    const driven = await drivenAmong(db, owned);
    for (const id of chunk) {
      if (driven.has(id)) continue;
      if (await ignoreNotFound(client.workflow.getHandle(id).terminate(ORPHANED))) terminated.push(id);
    }
  }
  return terminated;
}
