import type { Client } from '@temporalio/client';
import { traceField, withLogFields } from '../../src/process/log-fields.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { Database, Sql } from '../../src/persistence/database/sql.ts';
import { SpanBudget } from '../../src/process/span-budget.ts';
import { inSpan, isTracing, SpanKind, type SpanOptions } from '../../src/process/tracing.ts';
import { CALL_LIMIT_MS } from '../../temporal/connection.ts';
import { parseActivityWorkflowId, parseWorkflowOwner } from '../../workflows/contracts/activity.contract.ts';
import { reached } from '../reached.ts';
import { isServerAway, RefusedEntries } from './refused.ts';
import { readActivities, type Startable, type Starter } from './starter.ts';

export interface OutboxDeps {
  db: Database;
  client: Client;
  starter: Starter;
  logger: Logger;
  /** Called per executed entry. */
  count: (what: 'started' | 'canceled' | 'refused') => void;
}

interface Entry {
  id: number;
  kind: 'start' | 'cancel';
  key: string;
  /** Trace of the request that ordered it. */
  traceparent: string | null;
}

const BATCH = 50;

/** What a relay remembers; lost without harm. */
interface Memory {
  refused: RefusedEntries;
  /** For cancels: one request may cancel a hundred thousand activities. */
  budget: SpanBudget;
}

/**
 * Makes the round of a loop: claims up to 50 entries, executes and deletes them in one transaction.
 *
 * @remarks Accounts take turns. Several relays share the work (SKIP LOCKED). A crash after a start and before the
 * delete repeats the start, which the server rejects as a duplicate. An entry the server refuses waits by itself and holds up no other.
 * @see docs/architecture.md#starting-it
 */
export function outboxRound(deps: OutboxDeps): () => Promise<boolean> {
  const memory: Memory = { refused: new RefusedEntries(), budget: new SpanBudget() };
  const { refused } = memory;
  return async () => {
    const now = Date.now();
    const waiting = refused.waiting(performance.now());
    return await deps.db.transaction(async (tx) => {
      const entries = await tx.query<Entry & { [key: string]: unknown }>(CLAIM, [waiting, BATCH]);
      if (entries.length === 0) return false;
      const done = await deps.client.withDeadline(now + CALL_LIMIT_MS, () => execute(deps, tx, entries, memory));
      await tx.query('delete from outbox where id = any($1::bigint[])', [done]);
      refused.forget(done);
      return entries.length === BATCH && done.length > 0;
    });
  };
}

async function execute(
  deps: OutboxDeps,
  tx: Sql,
  entries: readonly Entry[],
  { refused, budget }: Memory,
): Promise<number[]> {
  const starts = entries.filter((entry) => entry.kind === 'start');
  const rows = await readActivities(
    tx,
    starts.map((entry) => Number(entry.key)),
  );
  const byId = new Map(rows.map((row) => [row.activityId, row]));
  const attempt = (entry: Entry, work: () => Promise<boolean>) =>
    withLogFields(traceField(entry.traceparent), () => settle(deps, entry, refused, work));
  const started = await Promise.all(
    starts.map((entry) =>
      attempt(entry, async () => {
        const row = byId.get(Number(entry.key));
        if (row && (await start(deps, row, entry.traceparent))) deps.count('started');
        return true;
      }),
    ),
  );
  // A cancel needs its workflow: only after the starts of the same batch.
  const cancels = entries.filter((entry) => entry.kind === 'cancel');
  const canceled = await Promise.all(cancels.map((entry) => attempt(entry, () => cancel(deps, entry, budget))));
  return [...started, ...canceled].filter((id) => id !== null);
}

/** Continues the trace of the request, if there is one, into the workflow. */
function start({ starter, logger }: OutboxDeps, row: Startable, parent: string | null): Promise<boolean> {
  const { workflowId, activityId } = row;
  const begin = async (): Promise<boolean> => {
    const isNew = await starter.start(row, 'once');
    logger.debug({ workflowId, activityId, isNew }, 'workflow started');
    return isNew;
  };
  return parent === null ? begin() : inSpan('relay start', producing(parent, workflowId, activityId), begin);
}

function producing(parent: string, workflowId: string, activityId: number | undefined): SpanOptions {
  const attributes = { 'flotilla.activity_id': activityId, 'flotilla.workflow_id': workflowId };
  return { kind: SpanKind.PRODUCER, parent, attributes };
}

/** @returns the id of an entry that is done, null of one to be kept. @throws when the server is away */
async function settle(
  { logger, count }: OutboxDeps,
  entry: Entry,
  refused: RefusedEntries,
  work: () => Promise<boolean>,
): Promise<number | null> {
  let reason: unknown = 'its workflow is not started yet';
  try {
    if (await work()) return entry.id;
  } catch (error) {
    if (isServerAway(error)) throw error;
    reason = error;
    count('refused');
    logger.error({ kind: entry.kind, key: entry.key, err: error }, 'outbox entry was refused, trying again later');
  }
  refused.add(entry.id);
  logger.debug({ kind: entry.kind, key: entry.key, reason }, 'outbox entry is kept');
  return null;
}

/** As {@link start}: the span is a part of the trace of the request that cancels, not of the one that began it. */
async function cancel(deps: OutboxDeps, { key, traceparent: parent }: Entry, budget: SpanBudget): Promise<boolean> {
  const activityId = parseWorkflowOwner(key) ?? undefined;
  const request = async (): Promise<boolean> => {
    const isThere = await reached(deps.client.workflow.getHandle(key).cancel());
    deps.logger.debug({ workflowId: key, activityId, isThere }, 'workflow cancel requested');
    return isThere;
  };
  const isSpan = parent !== null && isTracing() && budget.take(parent);
  if (await (isSpan ? inSpan('relay cancel', producing(parent, key, activityId), request) : request())) {
    deps.count('canceled');
    return true;
  }
  // Not there: another relay may be starting it just now. Otherwise the inbox carries the cancel to whoever starts it.
  const activity = parseActivityWorkflowId(key);
  const pending = await deps.db.query(`select 1 from outbox where kind = 'start' and key = $1`, [String(activity)]);
  return pending.length === 0;
}

/** Entries that are looked at in a round, those of all accounts together: what other relays hold is among them. */
const WINDOW = 8 * BATCH;
const WINDOW_OF_ONE = 4;

// Accounts take turns: whoever ordered thousands of actions stands in front of nobody else's next one.
const CLAIM = `
  with recursive account(id) as (
    (select account_id from outbox where kind in ('start', 'cancel') order by account_id limit 1)
    union all
    select (
      select o.account_id from outbox o
      where o.kind in ('start', 'cancel') and o.account_id > a.id order by o.account_id limit 1)
    from account a where a.id is not null
  ), waiting as (
    select e.id, row_number() over (partition by a.id order by e.id) as turn
    from account a cross join lateral (
      select id from outbox
      where kind in ('start', 'cancel') and account_id = a.id and id <> all($1::bigint[])
      order by id limit greatest(${WINDOW_OF_ONE}, ${WINDOW} / (select count(*) from account))) e
  )
  select o.id, o.kind, o.key, o.traceparent from waiting w join outbox o on o.id = w.id
  order by w.turn, o.id limit $2 for update of o skip locked`;
