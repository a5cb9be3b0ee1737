import type { Sql } from '../database/sql.ts';
import { alertRule } from '../query/alert-conditions.ts';

/** Upper bounds of the ages of open operations, youngest first; `seconds` null covers all older ones. */
export const AGE_BUCKETS = [
  { name: '1m', seconds: 60 },
  { name: '10m', seconds: 600 },
  { name: '1h', seconds: 3_600 },
  { name: '1d', seconds: 86_400 },
  { name: '7d', seconds: 604_800 },
  { name: '30d', seconds: 2_592_000 },
  { name: 'older', seconds: null },
] as const;

type ReportState = 'waiting' | 'begun';

export interface FleetFigures {
  outbox: Record<string, number>;
  outboxOldestSeconds: number;
  inbox: number;
  inboxOldestSeconds: number;
  openBatches: number;
  /** Those whose next due time passed more than a minute ago. */
  overdueBatches: number;
  /** Those created more than two minutes ago and never opened. */
  unopenedBatches: number;
  openOperations: number[];
  messages: Record<'queued' | 'sent', number>;
  reports: Record<ReportState, number>;
  reportsOldestSeconds: Record<ReportState, number>;
  computers: Record<'approved' | 'pending' | 'archived', number>;
  /** Accepted computers without contact for five minutes. */
  offline: number;
}

/** Maximum number of rows counted per table: higher numbers show as this one. */
const COUNT_LIMIT = 1_000_000;
/** Reports are checked one by one; open ones are among the newest, unless there are more than this. */
const REPORTS_LOOKED_AT = 1_000;

/** Counts what operators monitor, by small indexes and the narrow table of contacts. */
export async function readFleetFigures(db: Sql): Promise<FleetFigures> {
  const limit = { countLimit: COUNT_LIMIT };
  const [queues] = await db.query<{ outbox_seconds: number; inbox: number; inbox_seconds: number }>(QUEUES, limit);
  const outbox = await db.query<{ kind: string; count: number }>(OUTBOX, limit);
  const [batches] = await db.query<BatchRow>(BATCHES, limit);
  const messages = await db.query<{ state: 'queued' | 'sent'; count: number }>(MESSAGES, limit);
  const looked = { reportsLookedAt: REPORTS_LOOKED_AT };
  const reports = await db.query<{ state: ReportState; count: number; seconds: number }>(REPORTS, looked);
  const [computers] = await db.query<FleetFigures['computers'] & { offline: number }>(COMPUTERS);
  const { approved, pending, archived, offline } = computers!;
  return {
    outbox: { start: 0, cancel: 0, schedule_sync: 0, ...byKey(outbox, 'kind', 'count') },
    outboxOldestSeconds: queues!.outbox_seconds,
    inbox: queues!.inbox,
    inboxOldestSeconds: queues!.inbox_seconds,
    openBatches: batches!.batches,
    overdueBatches: batches!.overdue,
    unopenedBatches: batches!.unopened,
    openOperations: batches!.operations,
    messages: { queued: 0, sent: 0, ...byKey(messages, 'state', 'count') },
    reports: { waiting: 0, begun: 0, ...byKey(reports, 'state', 'count') },
    reportsOldestSeconds: { waiting: 0, begun: 0, ...byKey(reports, 'state', 'seconds') },
    computers: { approved, pending, archived },
    offline,
  };
}

interface BatchRow {
  batches: number;
  overdue: number;
  unopened: number;
  operations: number[];
}

function byKey<K extends string, V extends string>(
  rows: ReadonlyArray<Record<K, string> & Record<V, number>>,
  key: K,
  value: V,
): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [row[key], row[value]]));
}

// Ids rise with time: the oldest entry has the lowest.
const QUEUES = `
  select greatest(0, coalesce(extract(epoch from now() - (select creation_time from outbox order by id limit 1)), 0)
      )::float8 as outbox_seconds,
    count(*)::int as inbox, greatest(0, coalesce(extract(epoch from now() - min(i.at)), 0))::float8 as inbox_seconds
  from (select at from agent_inbox limit :countLimit) i`;

const OUTBOX = `select kind, count(*)::int as count from (select kind from outbox limit :countLimit) o group by kind`;

const ageOf = (from: number | null, to: number | null): string => {
  const older = from === null ? 'true' : `l.created_at <= now() - interval '${from} seconds'`;
  const younger = to === null ? 'true' : `l.created_at > now() - interval '${to} seconds'`;
  return `coalesce(sum(l.open_count) filter (where ${older} and ${younger}), 0)::int`;
};

const AGES = AGE_BUCKETS.map(({ seconds }, i) => ageOf(AGE_BUCKETS[i - 1]?.seconds ?? null, seconds));

const BATCHES = `
  select count(*)::int as batches,
    count(*) filter (where l.next_due_at <= now() - interval '1 minute')::int as overdue,
    count(*) filter (where l.opened_at is null and l.created_at <= now() - interval '2 minutes')::int as unopened,
    array[${AGES.join(', ')}] as operations
  from (
    select open_count, created_at, opened_at, next_due_at from lane where closed_at is null and open_count > 0 limit :countLimit
  ) l`;

const MESSAGES = `
  select case state when 'sent' then 'sent' else 'queued' end as state, count(*)::int as count from (
    select state from agent_message where state in ('held', 'queued', 'sent') limit :countLimit
  ) m group by 1`;

const REPORTS = `
  select case a.status when 'undelivered' then 'waiting' else 'begun' end as state, count(*)::int as count,
    greatest(0, extract(epoch from now() - min(a.creation_time)))::float8 as seconds
  from (
    select activity_id from usg_report where activity_id is not null order by activity_id desc limit :reportsLookedAt
  ) u join activity a on a.id = u.activity_id
  where a.completion_time is null
  group by 1`;

const OFFLINE = alertRule('computer-offline').active;

const COMPUTERS = `
  select (select count(*)::int from computer where state = 'approved' and not archived) as approved,
    (select count(*)::int from computer where state = 'pending') as pending,
    (select count(*)::int from computer where archived) as archived,
    (select count(*)::int from computer_contact contact join computer c on c.id = contact.computer_id
      where c.state = 'approved' and not c.archived and ${OFFLINE}) as offline`;
