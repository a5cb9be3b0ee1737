import { type Cursor, type EventType, LOG_TYPES } from '../../domain/events/cloud-events.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { Compilation } from '../query/compilation.ts';
import { type ComputerSelection, computersCondition } from '../query/computer-conditions.ts';
import { type ActivityScope, scopeParameters, VISIBLE, VISIBLE_COMPUTERS } from '../query/activity-visibility.ts';

export type CloudEventRow = Row<'cloud_event', 'id, position, account_id, time, type, activity_id, computer_id, data'>;

export interface EventSelection {
  scope: ActivityScope;
  /** Sees the event log. */
  log: boolean;
  /** Null for all. */
  types: readonly EventType[] | null;
  /** Only events about these computers; null for all. */
  computers: ComputerSelection | null;
}

export interface FeedState {
  /** Every event before this position is there. */
  horizon: number;
  /** Events after it are committed, but an earlier transaction has not ended. */
  held: boolean;
  /** The newest event that was deleted. */
  purged: Cursor;
}

/** Where the feed begins and ends now. */
export async function readFeedState(db: Sql): Promise<FeedState> {
  const [row] = await db.query<{ horizon: number; held: boolean; position: number; id: number }>(
    FEED_STATE,
    {},
    'feed-state',
  );
  const { horizon, held, ...purged } = row!;
  return { horizon, held, purged };
}

interface EventsFound {
  rows: CloudEventRow[];
  /** After the last event that was examined. */
  cursor: Cursor;
  more: boolean;
}

/** Events that one read examines: those of a selection may be rare. */
const LOOKED_AT = 5_000;

/** At most `limit` events after `after` and before the horizon, in their order. Examines a bounded number of rows. */
export async function findEvents(
  db: Sql,
  { scope, log, types, computers }: EventSelection,
  { after, horizon, limit }: { after: Cursor; horizon: number; limit: number },
): Promise<EventsFound> {
  const { text, values } = about(computers, scope.accountId);
  const found = await db.query<Found>(find(text), {
    ...values,
    ...scopeParameters(scope),
    log,
    types,
    afterPosition: after.position,
    afterId: after.id,
    horizon,
    lookedAt: LOOKED_AT,
    limit: limit + 1,
  });
  const rows = found.filter((row) => row.id !== null);
  const page = rows.slice(0, limit);
  const cursorOf = ({ position, id }: Cursor) => ({ position, id });
  if (rows.length > limit) return { rows: page, cursor: cursorOf(page.at(-1)!), more: true };
  const { last_position: position, last_id: id, looked_at } = found[0]!;
  if (looked_at === LOOKED_AT) return { rows: page, cursor: { position, id }, more: true };
  return { rows: page, cursor: { position: Math.max(horizon, after.position), id: 0 }, more: false };
}

/** One page and where the look ended; without any event `id` is null. */
type Found = CloudEventRow & { last_position: number; last_id: number; looked_at: number };

export interface Changes {
  accounts: number[];
  activities: number[];
  /** What to look for changes after next time. */
  snapshot: string;
}

/** Accounts and activities with events that a snapshot did not see, in whatever order they were committed. */
export async function findChanges(db: Sql, snapshot: string): Promise<Changes> {
  const [row] = await db.query<Changes>(CHANGES, { snapshot }, 'event-changes');
  return row!;
}

export async function readSnapshot(db: Sql): Promise<string> {
  const [row] = await db.query<{ snapshot: string }>('select pg_current_snapshot()::text as snapshot');
  return row!.snapshot;
}

/** Subscribes a connection to notifications of ended activities and changed permissions: others are polled for. */
export async function listenForEvents(connection: { query(text: string): Promise<unknown> }): Promise<void> {
  await connection.query('listen flotilla_events');
}

/** Deletes events older than `keepDays`, oldest first, among `limit`. @returns how many; fewer: no more */
export async function purgeExpiredCloudEvents(db: Sql, keepDays: number, limit: number): Promise<number> {
  const [row] = await db.query<{ deleted: number }>(PURGE, { keepDays, limit });
  return row!.deleted;
}

/** Moves later events behind all that a client may have got from a database that was restored. */
export async function skipPositions(tx: Sql): Promise<void> {
  await tx.query(SKIP_POSITIONS, { margin: POSITION_MARGIN });
}

/** More transactions than there can be between a backup and its restore. */
const POSITION_MARGIN = 2 ** 32;

function about(computers: ComputerSelection | null, accountId: number) {
  if (computers === null) return { text: '', values: {} };
  const compilation = new Compilation({ accountId, now: computers.now });
  const condition = computersCondition(computers.query, compilation, computers.searches);
  const ids = `(select c.id from computer c where c.account_id = :accountId and ${condition})`;
  const text = `and (e.computer_id in ${ids} or e.computer_id is null and e.activity_id in (
      select k.parent_id from activity k where k.computer_id in ${ids}))`;
  return { text, values: compilation.values };
}

const LOG = `e.type in (${LOG_TYPES.map((type) => `'${type}'`).join(', ')})`;

const find = (about: string) => `
  with looked as materialized (
    select id, position from cloud_event
    where account_id = :accountId and (position, id) > (:afterPosition, :afterId) and position < :horizon
    order by position, id limit :lookedAt
  ), reached as (
    select count(*)::int as looked_at, (array_agg(position order by position desc, id desc))[1] as last_position,
      (array_agg(id order by position desc, id desc))[1] as last_id from looked
  ), page as (
    select e.* from looked join cloud_event e on e.position = looked.position and e.id = looked.id
    where (:types::text[] is null or e.type = any(:types::text[])) and case
      when ${LOG} then :log::boolean
      when :view::int[] is null and :usgProfiles::int[] is null and :scriptProfiles::int[] is null then true
      when e.computer_id is not null then :view::int[] is null or e.computer_id in ${VISIBLE_COMPUTERS}
      else exists (select from activity a where a.id = e.activity_id and ${VISIBLE}) end ${about}
    order by e.position, e.id limit :limit
  )
  select page.id, page.position, page.account_id, page.time, page.type, page.activity_id, page.computer_id, page.data,
    reached.looked_at, reached.last_position, reached.last_id
  from reached left join page on true order by page.position, page.id`;

const FEED_STATE = `
  select horizon, exists (select from cloud_event where position >= horizon) as held, purged_position as position,
    purged_id as id
  from (select event_horizon() as horizon, * from cloud_event_feed) feed`;

const CHANGES = `
  select coalesce(array_agg(distinct account_id) filter (where account_id is not null), '{}') as accounts,
    coalesce(array_agg(distinct activity_id) filter (where activity_id is not null), '{}') as activities,
    pg_current_snapshot()::text as snapshot
  from cloud_event_feed f left join cloud_event e on e.position >= pg_snapshot_xmin(:snapshot::pg_snapshot)::text::bigint + f.base
    and not pg_visible_in_snapshot((e.position - f.base)::text::xid8, :snapshot::pg_snapshot)`;

const PURGE = `
  with due as (
    select id, position from (select * from cloud_event order by position, id limit :limit) oldest
    where time < now() - make_interval(days => :keepDays::int)
  ), deleted as (
    delete from cloud_event e using due where e.position = due.position and e.id = due.id returning e.id, e.position
  ), marked as (
    update cloud_event_feed f set purged_position = last.position, purged_id = last.id
    from (select position, id from deleted order by position desc, id desc limit 1) last
    where (last.position, last.id) > (f.purged_position, f.purged_id)
  )
  select count(*)::int as deleted from deleted`;

const SKIP_POSITIONS = `
  update cloud_event_feed set base = :margin + greatest(base, (
    select coalesce(max(position), 0) - pg_current_xact_id()::text::bigint from cloud_event))`;
