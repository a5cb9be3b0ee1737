import type { DeliveryKind, DeliveryStatus } from '../../domain/events/webhooks.ts';
import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import type { CloudEventRow } from './cloud-events.sql.ts';

type DeliveryRow = Row<
  'webhook_delivery',
  `id, event_position, event_id, event_type, status, attempts, next_attempt_at, response_status, error, created_at, completed_at`
>;

/** The id of a webhook that will be created: its secret is encrypted for it. */
export async function nextWebhookId(tx: Sql): Promise<number> {
  const [row] = await tx.query<{ id: number }>(`select nextval(pg_get_serial_sequence('webhook', 'id'))::int as id`);
  return row!.id;
}

/** One page, newest first, and the number of all. A null status is any. */
export async function listDeliveries(db: Sql, webhookId: number, status: DeliveryStatus | null, page: PageRequest) {
  const which = { webhookId, status };
  const [[counted], results] = await Promise.all([
    db.query<{ count: number }>(COUNT, which),
    db.query<DeliveryRow>(LIST, { ...which, ...page }),
  ]);
  return { count: counted!.count, results };
}

/** Adds deliveries of events, in their order, that are due at once. */
export async function insertDeliveries(
  tx: Sql,
  { webhookId, kind, now }: { webhookId: number; kind: DeliveryKind; now: Date },
  events: readonly CloudEventRow[],
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(INSERT, {
    webhookId,
    kind,
    now,
    positions: events.map(({ position }) => position),
    ids: events.map(({ id }) => id),
    types: events.map(({ type }) => type),
  });
}

/** Adds the delivery of an event that is not in the feed. */
export async function insertTestDelivery(
  tx: Sql,
  delivery: { webhookId: number; type: string; now: Date },
): Promise<DeliveryRow> {
  const [row] = await tx.query<DeliveryRow>(INSERT_TEST, delivery);
  return row!;
}

/** A pending delivery with its event; `found` is null when that was deleted, or is not in the feed. */
export interface DueDelivery
  extends Row<
    'webhook_delivery',
    'id, kind, event_position, event_id, event_type, attempts, next_attempt_at, created_at'
  > {
  found: number | null;
  time: Date | null;
  activity_id: number | null;
  computer_id: number | null;
  data: unknown;
}

/** The first pending deliveries: those that are due, or for `ordered` webhooks all from the oldest on. */
export function readDueDeliveries(
  db: Sql,
  of: { webhookId: number; ordered: boolean; now: Date; limit: number },
): Promise<DueDelivery[]> {
  if (of.ordered) return db.query<DueDelivery>(DUE_IN_ORDER, of);
  return db.query<DueDelivery>(DUE, of);
}

export async function countPending(tx: Sql, webhookId: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from webhook_delivery where webhook_id = :webhookId and status = 'pending'`,
    { webhookId },
  );
  return row!.count;
}

export interface DeliveryOutcome {
  id: number;
  status: DeliveryStatus;
  responseStatus: number | null;
  error: string | null;
  /** Null unless it stays pending. */
  nextAttemptAt: Date | null;
}

/** Records one attempt of each; those that are not pending any more stay as they are. */
export async function recordOutcomes(tx: Sql, outcomes: readonly DeliveryOutcome[], now: Date): Promise<void> {
  await tx.query(RECORD, {
    now,
    ids: outcomes.map(({ id }) => id),
    statuses: outcomes.map(({ status }) => status),
    responses: outcomes.map(({ responseStatus }) => responseStatus),
    errors: outcomes.map(({ error }) => error),
    nextAttempts: outcomes.map(({ nextAttemptAt }) => nextAttemptAt),
  });
}

/** When the next delivery is due: of an ordered webhook the oldest one. Null without a pending one. */
export async function readNextAttempt(tx: Sql, webhookId: number, ordered: boolean): Promise<Date | null> {
  const [row] = await tx.query<{ next_attempt_at: Date }>(ordered ? NEXT_IN_ORDER : NEXT, { webhookId });
  return row?.next_attempt_at ?? null;
}

/** Makes deliveries pending again, due at once. @returns those of `ids` that the webhook has, and how many were changed */
export async function redeliver(tx: Sql, of: { webhookId: number; ids: readonly number[]; now: Date }) {
  const [row] = await tx.query<{ known: number; changed: number }>(REDELIVER, of);
  return row!;
}

/** Makes all pending deliveries of a webhook due now. */
export async function hastenDeliveries(tx: Sql, webhookId: number, now: Date): Promise<void> {
  await tx.query(
    `update webhook_delivery set next_attempt_at = :now, attempts = 0
     where webhook_id = :webhookId and status = 'pending'`,
    { webhookId, now },
  );
}

/** Deletes deliveries completed more than `keepDays` ago, among `limit`. @returns how many; fewer: no more */
export async function purgeExpiredDeliveries(db: Sql, keepDays: number, limit: number): Promise<number> {
  const [row] = await db.query<{ deleted: number }>(PURGE, { keepDays, limit });
  return row!.deleted;
}

export interface WebhookWork {
  /** Webhooks that may get events. */
  active: number;
  /** Those that a step would do something for. */
  due: Array<{ id: number; accountId: number; url: string }>;
}

/** Active webhooks with events that no step has seen, a delivery that is due, or a request of an administrator. */
export async function readWebhookWork(db: Sql, now: Date): Promise<WebhookWork> {
  const [row] = await db.query<WebhookWork>(WORK, { now }, 'webhook-work');
  return row!;
}

const COLUMNS = `id, event_position, event_id, event_type, status, attempts, next_attempt_at, response_status, error,
  created_at, completed_at`;

const SELECTED = 'webhook_id = :webhookId and (:status::text is null or status = :status)';

const COUNT = `select count(*)::int as count from webhook_delivery where ${SELECTED}`;

const LIST = `
  select ${COLUMNS} from webhook_delivery where ${SELECTED} order by id desc limit :limit offset :offset`;

const INSERT = `
  insert into webhook_delivery (webhook_id, event_position, event_id, event_type, kind, status, next_attempt_at, created_at)
  select :webhookId, e.position, e.id, e.type, :kind, 'pending', :now, :now
  from unnest(:positions::bigint[], :ids::bigint[], :types::text[]) with ordinality as e(position, id, type, place)
  order by e.place`;

const INSERT_TEST = `
  insert into webhook_delivery (webhook_id, event_position, event_id, event_type, kind, status, next_attempt_at, created_at)
  values (:webhookId, event_position(), nextval(pg_get_serial_sequence('cloud_event', 'id')), :type, 'test', 'pending',
    :now, :now)
  returning ${COLUMNS}`;

const PENDING = `webhook_id = :webhookId and status = 'pending'`;

const WITH_EVENT = `
  select d.id, d.kind, d.event_position, d.event_id, d.event_type, d.attempts, d.next_attempt_at, d.created_at,
    e.id as found, e.time, e.activity_id, e.computer_id, e.data
  from chosen d left join cloud_event e on e.id = d.event_id and e.position = d.event_position`;

const DUE = `
  with chosen as (
    select * from webhook_delivery where ${PENDING} and next_attempt_at <= :now order by next_attempt_at, id limit :limit
  )
  ${WITH_EVENT} order by d.next_attempt_at, d.id`;

const DUE_IN_ORDER = `
  with chosen as (select * from webhook_delivery where ${PENDING} order by id limit :limit)
  ${WITH_EVENT} order by d.id`;

const NEXT = `select next_attempt_at from webhook_delivery where ${PENDING} order by next_attempt_at limit 1`;

const NEXT_IN_ORDER = `select next_attempt_at from webhook_delivery where ${PENDING} order by id limit 1`;

const RECORD = `
  update webhook_delivery d set status = o.status, attempts = d.attempts + 1, response_status = o.response,
    error = o.error, next_attempt_at = o.next_attempt, completed_at = case when o.status <> 'pending' then :now::timestamptz end
  from unnest(:ids::bigint[], :statuses::text[], :responses::int[], :errors::text[], :nextAttempts::timestamptz[])
    as o(id, status, response, error, next_attempt)
  where d.id = o.id and d.status = 'pending'`;

const REDELIVER = `
  with chosen as (
    select id, status from webhook_delivery where webhook_id = :webhookId and id = any(:ids::bigint[]) order by id for update
  ), changed as (
    update webhook_delivery d set status = 'pending', attempts = 0, next_attempt_at = :now, completed_at = null
    from chosen c where d.id = c.id and c.status <> 'pending' returning d.id
  )
  select (select count(*)::int from chosen) as known, (select count(*)::int from changed) as changed`;

const PURGE = `
  with due as (
    select id from webhook_delivery
    where completed_at < now() - make_interval(days => :keepDays::int) order by completed_at limit :limit
  ), deleted as (delete from webhook_delivery d using due where d.id = due.id returning d.id)
  select count(*)::int as deleted from deleted`;

const WORK = `
  select count(*)::int as active, coalesce(jsonb_agg(jsonb_build_object('id', w.id, 'accountId', w.account_id, 'url', w.url)
    order by w.id) filter (where w.next_step_at <= :now or not w.backlog_full and exists (
      select from cloud_event e where e.account_id = w.account_id
        and (e.position, e.id) > (w.cursor_position, w.cursor_id) and e.position < h.horizon)), '[]') as due
  from webhook w cross join (select event_horizon() as horizon) h where w.status = 'active'`;
