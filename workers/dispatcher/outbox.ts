import type { Client } from '@temporalio/client';
import { parseActivityWorkflowId, parseWorkflowOwner } from '../../src/domain/activities/workflow-id.ts';
import {
  claimCommands,
  deleteCommands,
  hasCommands,
  hasStartCommand,
  type OutboxCommand,
} from '../../src/persistence/activities/outbox.sql.ts';
import type { Database, Sql } from '../../src/persistence/database/sql.ts';
import { readStartableActivities, type Startable } from '../../src/persistence/engine/startable.sql.ts';
import { traceField, withLogFields } from '../../src/process/log-fields.ts';
import type { Logger } from '../../src/process/logger.ts';
import { inSpan, isTracing, SpanKind, SpanLimit, type SpanOptions } from '../../src/process/tracing.ts';
import { CALL_LIMIT_MS } from '../../temporal/client/connection.ts';
import { ignoreNotFound } from '../../temporal/client/workflow-calls.ts';
import type { Poll } from './loop.ts';
import { isServerUnavailable, RejectedEntries } from './rejected.ts';
import type { Starter } from './starter.ts';

interface OutboxDeps {
  genericPlanDb: Database;
  client: Client;
  starter: Starter;
  logger: Logger;
  count: (what: 'started' | 'canceled' | 'refused') => void;
}

const LIMIT = 50;
/** While the outbox may have commands: kept ones, or those of another dispatcher, which may end. */
export const KEPT_POLL_MS = 1_000;

/** Safe to lose. */
interface Memory {
  rejected: RejectedEntries;
  budget: SpanLimit;
}

/** Up to 50 commands in one transaction; may be repeated after a crash. @see docs/architecture.md#starting-it */
export function outboxPoll(deps: OutboxDeps): Poll {
  const memory: Memory = { rejected: new RejectedEntries(), budget: new SpanLimit() };
  const { rejected } = memory;
  return async (isWoken) => {
    if (!isWoken && !(await hasCommands(deps.genericPlanDb, ['start', 'cancel']))) return false;
    const now = Date.now();
    const waiting = rejected.waiting(performance.now());
    return await deps.genericPlanDb.transaction(async (tx) => {
      const commands = await claimCommands(tx, waiting, LIMIT);
      if (commands.length === 0) return KEPT_POLL_MS;
      const done = await deps.client.withDeadline(now + CALL_LIMIT_MS, () => execute(deps, tx, commands, memory));
      await deleteCommands(tx, done);
      rejected.delete(done);
      return commands.length === LIMIT && done.length > 0 ? true : KEPT_POLL_MS;
    });
  };
}

async function execute(
  deps: OutboxDeps,
  tx: Sql,
  commands: readonly OutboxCommand[],
  { rejected, budget }: Memory,
): Promise<number[]> {
  const starts = commands.filter((command) => command.kind === 'start');
  const ids = starts.map((command) => Number(command.key));
  const rows = await readStartableActivities(tx, ids);
  const byId = new Map(rows.map((row) => [row.activityId, row]));
  const attempt = (command: OutboxCommand, work: () => Promise<boolean>) =>
    withLogFields(traceField(command.traceparent), () => attemptCommand(deps, command, rejected, work));
  const started = await Promise.all(
    starts.map((command) =>
      attempt(command, async () => {
        const row = byId.get(Number(command.key));
        if (row && (await start(deps, row, command.traceparent))) deps.count('started');
        return true;
      }),
    ),
  );
  // A cancel needs its workflow, so the starts of the same claim come first.
  const cancels = commands.filter((command) => command.kind === 'cancel');
  const canceled = await Promise.all(cancels.map((command) => attempt(command, () => cancel(deps, command, budget))));
  return [...started, ...canceled].filter((id) => id !== null);
}

function start({ starter, logger }: OutboxDeps, row: Startable, parent: string | null): Promise<boolean> {
  const { workflowId, activityId } = row;
  const startWorkflow = async (): Promise<boolean> => {
    const isNew = await starter.start(row, 'reject');
    logger.debug({ workflowId, activityId, isNew }, 'workflow started');
    return isNew;
  };
  return parent === null
    ? startWorkflow()
    : inSpan('outbox start', producing(parent, workflowId, activityId), startWorkflow);
}

function producing(parent: string, workflowId: string, activityId: number | undefined): SpanOptions {
  const attributes = { 'flotilla.activity_id': activityId, 'flotilla.workflow_id': workflowId };
  return { kind: SpanKind.PRODUCER, parent, attributes };
}

/** @returns the id of a completed command, null for one to keep. @throws when the server is unavailable */
async function attemptCommand(
  { logger, count }: OutboxDeps,
  command: OutboxCommand,
  rejected: RejectedEntries,
  work: () => Promise<boolean>,
): Promise<number | null> {
  let reason: unknown = 'its workflow is not started yet';
  try {
    if (await work()) return command.id;
  } catch (error) {
    if (isServerUnavailable(error)) throw error;
    reason = error;
    count('refused');
    logger.error(
      { kind: command.kind, key: command.key, err: error },
      'Temporal rejected an outbox command; will retry',
    );
  }
  rejected.add(command.id);
  logger.debug({ kind: command.kind, key: command.key, reason }, 'outbox command is kept');
  return null;
}

/** As {@link start}: the span belongs to the trace of the cancel request, not of the request that started it. */
async function cancel(
  deps: OutboxDeps,
  { key, traceparent: parent }: OutboxCommand,
  budget: SpanLimit,
): Promise<boolean> {
  const activityId = parseWorkflowOwner(key) ?? undefined;
  const request = async (): Promise<boolean> => {
    const isThere = await ignoreNotFound(deps.client.workflow.getHandle(key).cancel());
    deps.logger.debug({ workflowId: key, activityId, isThere }, 'workflow cancel requested');
    return isThere;
  };
  const isSpan = parent !== null && isTracing() && budget.take(parent);
  if (await (isSpan ? inSpan('outbox cancel', producing(parent, key, activityId), request) : request())) {
    deps.count('canceled');
    return true;
  }
  // Not found: another dispatcher may be starting it. Otherwise the inbox delivers the cancel to the next start.
  return !(await hasStartCommand(deps.genericPlanDb, parseActivityWorkflowId(key)));
}
