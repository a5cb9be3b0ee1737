import type { Client } from '@temporalio/client';
import type { Database } from '../../src/persistence/database/sql.ts';
import { readClosedAmong } from '../../src/persistence/engine/repairs.sql.ts';
import type { Logger } from '../../src/process/logger.ts';
import { BATCH_TYPES, GROUP_TYPES, isOfType } from '../../workflows/contracts/workflow-types.ts';
import { sendWakeUp } from '../workflow-calls.ts';

const WORKFLOWS_LIMIT = 400;
const PAGE = 200;

/** Those whose last result was lost. `before`: ms since the epoch. Returns where to go on, undefined at the end. */
export async function wakeLeftRunning(
  { client, db, logger }: { client: Client; db: Database; logger: Logger },
  settleMs: number,
  before?: number,
): Promise<number | undefined> {
  const { ids, next } = await runningBatches(client, before);
  for (const workflowId of await readClosedAmong(db, ids, settleMs)) {
    if (await sendWakeUp(client, workflowId)) logger.warn({ workflowId }, 'woke a workflow whose batch has ended');
  }
  return next;
}

async function runningBatches(client: Client, before: number | undefined) {
  const startedBefore = before === undefined ? '' : ` AND StartTime < '${new Date(before).toISOString()}'`;
  const query = `${isOfType([...BATCH_TYPES, ...GROUP_TYPES])} AND ExecutionStatus = 'Running'${startedBefore}`;
  const ids: string[] = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query, pageSize: PAGE })) {
    ids.push(workflowId);
    // The server stores fractions of a millisecond.
    if (ids.length === WORKFLOWS_LIMIT) return { ids, next: startTime.getTime() + 1 };
  }
  return { ids, next: undefined };
}
