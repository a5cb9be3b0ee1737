import type { Client } from '@temporalio/client';
import type { Database } from '../../src/persistence/database/sql.ts';
import { readClosedAmong } from '../../src/persistence/engine/repairs.repository.ts';
import type { Logger } from '../../src/process/logger.ts';
import { BATCH_TYPES, isOfType } from '../../workflows/contracts/workflow-types.ts';
import { sendWakeUp } from '../dispatcher/wake-up.ts';

/** Looked at in one run; the next one goes on with those that began before. */
const MOST_LOOKS = 400;
const PAGE = 200;

/**
 * Wakes lane workflows that still run although their lane has ended: the answer of their last step was lost, when a
 * worker stood still or the server lost its last moments. Asking again, they learn from the rows that they may end, and
 * so do their groups.
 * @param before - workflows that began before this, in ms since the epoch; the newest first when absent
 * @returns where the next run goes on; undefined when the round is complete
 */
export async function wakeLeftRunning(
  { client, db, logger }: { client: Client; db: Database; logger: Logger },
  settleMs: number,
  before?: number,
): Promise<number | undefined> {
  const { ids, next } = await runningLanes(client, before);
  for (const workflowId of await readClosedAmong(db, ids, settleMs)) {
    if (await sendWakeUp(client, workflowId))
      logger.warn({ workflowId }, 'a lane has ended and its workflow had not: woken');
  }
  return next;
}

async function runningLanes(client: Client, before: number | undefined) {
  const begun = before === undefined ? '' : ` AND StartTime < '${new Date(before).toISOString()}'`;
  const query = `${isOfType(BATCH_TYPES)} AND ExecutionStatus = 'Running'${begun}`;
  const ids: string[] = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query, pageSize: PAGE })) {
    ids.push(workflowId);
    // The server knows parts of a millisecond.
    if (ids.length === MOST_LOOKS) return { ids, next: startTime.getTime() + 1 };
  }
  return { ids, next: undefined };
}
