import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { parseWorkflowOwner } from '../../src/domain/activities/workflow-id.ts';
import { RECONCILE_WORKFLOW } from '../../workflows/contracts/housekeeping.contract.ts';
import { BATCH_TYPES, GROUP_TYPES, isOfType, REPORT_TYPES } from '../../workflows/contracts/workflow-types.ts';
import { ignoreNotFound } from '../../temporal/client/workflow-calls.ts';

const CHUNK = 200;
const CLOSED_LIMIT = 5_000;
const RUNNING_LIMIT = 400;
/** A server allows ten visibility calls a second. */
const PAUSE_MS = 150;
/** The reconciler's own runs, one a minute, are deleted sooner than activities, which they would crowd out. */
const KEEP_RUNS_MS = 60 * 60_000;
const DELETE_LIMIT = 50;
const OURS = isOfType([...GROUP_TYPES, ...BATCH_TYPES, ...REPORT_TYPES]);
/** The query of our workflows that run, reports included. */
export const RUNNING = `ExecutionStatus = 'Running' AND ${OURS}`;
const CLOSED = `ExecutionStatus != 'Running' AND ${OURS}`;

/** Ids of the workflows that match a query, in chunks; only the last chunk may be smaller. */
export async function* workflowIdsOf(client: Client, query: string): AsyncGenerator<string[]> {
  let chunk: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: CHUNK })) {
    chunk.push(workflowId);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

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

/** Ids of our workflows that ended since `since` in a way that can leave open rows, in chunks. */
export async function* closedAbnormally(client: Client, since: number): AsyncGenerator<string[]> {
  const query =
    `${isOfType([...GROUP_TYPES, ...BATCH_TYPES])} ` +
    `AND ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut') AND CloseTime >= '${new Date(since).toISOString()}'`;
  let seen = 0;
  for await (const ids of workflowIdsOf(client, query)) {
    yield ids;
    seen += ids.length;
    if (ids.length < CHUNK || seen >= CLOSED_LIMIT) return;
    await delay(PAUSE_MS);
  }
}

/** The workflow ids that visibility shows as running; the others need a closer check. */
export async function runningAmong(client: Client, workflowIds: readonly string[]): Promise<Set<string>> {
  const running = new Set<string>();
  for (let from = 0; from < workflowIds.length; from += CHUNK) {
    if (from > 0) await delay(PAUSE_MS);
    const quoted = workflowIds.slice(from, from + CHUNK).map((id) => `'${id.replaceAll("'", "''")}'`);
    const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${quoted.join(', ')})`;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: CHUNK })) running.add(workflowId);
  }
  return running;
}

/** Ids of running batches and groups, the newest first, up to a limit; `before` and `next` are in ms since the epoch. */
export async function runningBatches(client: Client, before: number | undefined) {
  const startedBefore = before === undefined ? '' : ` AND StartTime < '${new Date(before).toISOString()}'`;
  const query = `${isOfType([...BATCH_TYPES, ...GROUP_TYPES])} AND ExecutionStatus = 'Running'${startedBefore}`;
  const ids: string[] = [];
  for await (const { workflowId, startTime } of client.workflow.list({ query, pageSize: CHUNK })) {
    ids.push(workflowId);
    // The server stores fractions of a millisecond.
    if (ids.length === RUNNING_LIMIT) return { ids, next: startTime.getTime() + 1 };
  }
  return { ids, next: undefined };
}

/** Deletes old closed runs of the reconciler from the server. */
export async function deleteOldRuns(client: Client, nowMs: number): Promise<void> {
  const before = new Date(nowMs - KEEP_RUNS_MS).toISOString();
  const query = `WorkflowType = '${RECONCILE_WORKFLOW}' AND ExecutionStatus != 'Running' AND CloseTime < '${before}'`;
  const { namespace } = client.options;
  let deleted = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: DELETE_LIMIT })) {
    if (deleted === DELETE_LIMIT) return;
    deleted += 1;
    await ignoreNotFound(
      client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } }),
    );
  }
}
