import { IDLE_STATUSES } from '../../domain/activities/status.ts';
import { ACTIVITY_WORKFLOW_PREFIX } from '../../domain/activities/workflow-id.ts';
import { REPORT_ACTIVITY } from '../../domain/compliance/report.ts';
import type { Sql } from '../database/sql.ts';
import { hasPendingEvent, isOpen, transitionGuard } from '../database/status-sql.ts';
import { withdrawBatchMessages, withdrawMessages } from './agent-messages.sql.ts';
import { ACTIVITIES, wakeDispatchers } from './outbox.sql.ts';

/** What a request cancels: whole groups, and single operations outside them. */
export interface Cancellation {
  accountId: number;
  groups: readonly number[];
  operations: readonly number[];
  now: Date;
  text: string | null;
  traceparent: string | null;
}

/** Locks the batches of activities, in id order and before any other lock, so that their statuses cannot change. */
export async function lockBatchesOf(tx: Sql, accountId: number, activities: readonly number[]): Promise<void> {
  await tx.query(LOCK_BATCHES, { accountId, activities });
}

/** Cancels activities; the caller locks their batches. Idempotent. @see docs/architecture.md#cancellation */
// Withdraws messages that no agent has received, and cancels workflows that have nothing else to do.
export async function cancelActivities(tx: Sql, cancellation: Cancellation): Promise<void> {
  const { accountId, groups, operations, now, text, traceparent } = cancellation;
  const open = 'select id from lane where parent_id = any(:groups) and open_count > 0';
  const batchIds = (await tx.query<{ id: number }>(open, { groups })).map(({ id }) => id);
  await withdrawBatchMessages(tx, batchIds);
  await withdrawMessages(tx, operations);
  await tx.query(ADD_CANCELS, { batchIds, operations, now, text });
  await tx.query(CANCEL_WORKFLOWS, {
    groups,
    operations,
    activityWorkflowPrefix: ACTIVITY_WORKFLOW_PREFIX,
    now,
    accountId,
    traceparent,
  });
  await tx.query(CANCEL_REPORTS, { groups, now });
  await wakeDispatchers(tx, ACTIVITIES);
}

/** Those of some activities all of whose open operations have a final event pending. The caller locks their batches. */
export async function readPendingEnds(tx: Sql, activities: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(PENDING_ENDS, { activities });
  return rows.map(({ id }) => id);
}

const ENDS = (operation: string) => hasPendingEvent(`${operation}.id`, 'result', 'gone');

// Children are read only where an operation of their batches has ended.
const PENDING_ENDS = `
  select a.id from activity a
  where a.id = any(:activities::int[]) and ${isOpen('a.status')} and case
    when a.lane_id is not null then ${ENDS('a')}
    when exists (
      select from lane l join agent_inbox i on i.lane_id = l.id
      where l.parent_id = a.id and i.kind in ('result', 'gone'))
    then not exists (
      select from activity k where k.parent_id = a.id and ${isOpen('k.status')} and not ${ENDS('k')})
    else false end`;

const LOCK_BATCHES = `
  select id from lane
  where account_id = :accountId and id in (
    select lane_id from activity where id = any(:activities::int[]) and account_id = :accountId
    union all select l.id from lane l where l.parent_id = any(:activities::int[]))
  order by id for update`;

// A report has no batch; the workflow that writes it checks its status.
const CANCEL_REPORTS = `
  update activity set status = 'canceled', completion_time = :now, modification_time = :now
  where id = any(:groups::int[]) and type = '${REPORT_ACTIVITY}' and ${transitionGuard('status', ['undelivered', 'delivered'], 'canceled')}`;

const ADD_CANCELS = `
  insert into agent_inbox (lane_id, activity_id, kind, body, at)
  select id, null::int, 'cancel', :text::text, :now::timestamptz from unnest(:batchIds::int[]) as batch(id)
  union all
  select lane_id, id, 'cancel', :text::text, :now::timestamptz from activity where id = any(:operations::int[])`;

// A batch of one computer ends with these operations when only their dependents are open besides.
const CANCEL_WORKFLOWS = `
  with recursive canceled as (
    select id, lane_id from activity where id = any(:operations::int[])
    union
    select d.id, d.lane_id from activity d join canceled b on d.blocked_by = b.id where ${transitionGuard('d.status', IDLE_STATUSES, 'canceled')}
  )
  insert into outbox (kind, key, creation_time, account_id, traceparent)
  select 'cancel', :activityWorkflowPrefix::text || id, :now::timestamptz, :accountId::int, :traceparent::text from unnest(:groups::int[]) as parent(id)
  union all
  select 'cancel', l.wf_id, :now::timestamptz, :accountId::int, :traceparent::text from lane l
  where l.single and l.id in (select lane_id from canceled) and not exists (
    select from activity a
    where a.lane_id = l.id and ${isOpen('a.status')}
      and a.id not in (select id from canceled))`;
