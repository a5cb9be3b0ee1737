import type { PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import type { ActivitySelection } from '../query/activity-conditions.ts';
import {
  CANCEL_REQUESTED,
  HELD,
  lostAmong,
  OPERATION_CANCEL_REQUESTED,
  OPERATION_HELD,
  ONLY_LATER,
  UNDOABLE,
} from '../query/activity-fields.ts';
import {
  type ActivityScope,
  MANAGEABLE,
  RUNNABLE,
  scopeParameters,
  VISIBLE_BY_KEY,
  VISIBLE_COMPUTERS,
} from '../query/activity-visibility.ts';
import { type ChildCounters, countVisible, findPage, matching } from './activity-pages.sql.ts';

export type BaseActivityRow = Row<
  'activity',
  `id, parent_id, type, summary, status, deliver_at, creation_time, approval_time, completion_time, creator_id,
   deliver_delay_window, result_text, result_code`
> & {
  /** Waits for room in a computer's queue; for a group: every undelivered operation does. */
  held: boolean;
  /** For a group that is due: no operation may be sent now, and some are due later. */
  only_later: boolean;
  creator_name: string | null;
  creator_email: string | null;
};

export interface NotReverted {
  activity_id: number;
  computer_id: number;
  computer_title: string | null;
  reason: 'failed' | 'canceled' | 'computer_gone' | 'reverted' | 'unchanged';
}

export interface ChildRow extends BaseActivityRow {
  computer_id: number;
  computer_title: string | null;
  cancel_requested: boolean;
}

type ActivityColumns = Row<
  'activity',
  `computer_id, delivery_time, deliver_after_time, deliver_before_time, schedule_before_time, schedule_after_time,
   modification_time, package_ids, changes, child_types, children_count, reapplied_from, reapplied_by, reverts,
   reverted_by, after_activity_id, progress`
>;

export interface ActivityRow extends BaseActivityRow, ActivityColumns {
  /** Still open, with an accepted cancel. */
  cancel_requested: boolean;
  manageable: boolean;
  /** False only for scripts that are redacted or that the caller may not run. */
  runnable: boolean;
  /** Succeeded, has an inverse and is not fully reverted; for a group: true of at least one operation. */
  undoable: boolean;
  /** Ended, and one of its computers is archived or removed. */
  lost: boolean;
  /** For a group that reverts another: the operations left out, on visible computers only; otherwise null. */
  not_reverted: NotReverted[] | null;
}

export type ParentRow = BaseActivityRow & ChildCounters & { cancel_requested: boolean };

/** One page of the matching parents and operations, newest first, and their total number. */
export async function listActivities(db: Sql, scope: ActivityScope, selection: ActivitySelection, page: PageRequest) {
  const found = await findPage(db, 'activities', scope, selection, page);
  const statement = list(detail('in (select id from page)'), found.text);
  const [count, rows] = await Promise.all([found.count(db), db.query<ActivityRow>(statement, found.values)]);
  return { count, rows };
}

/** As {@link listActivities}, only activities without a parent; each counts only children visible to the caller. */
export async function listParents(db: Sql, scope: ActivityScope, selection: ActivitySelection, page: PageRequest) {
  const found = await findPage(db, 'parents', scope, selection, page);
  const statement = list(parentColumns(ONLY_LATER), found.text);
  const [count, rows] = await Promise.all([found.count(db), db.query<ParentRow>(statement, found.values)]);
  return { count, rows: await countVisible(db, scope, rows) };
}

/** Ids of at most `limit` matching parents and operations, descending. @param among - only these; null for all */
export async function selectActivities(
  db: Sql,
  scope: ActivityScope,
  selection: ActivitySelection,
  limit: number,
  among: readonly number[] | null = null,
): Promise<number[]> {
  const { text, values } = matching(scope, selection);
  const chosen = among === null ? '' : ' and a.id = any(:among::int[])';
  const rows = await db.query<{ id: number }>(
    `select a.id from activity a where ${text}${chosen} order by a.id desc limit :limit`,
    { ...values, limit, among },
  );
  return rows.map(({ id }) => id);
}

/** Activities by id, in no order; those invisible to the caller are left out. */
export async function findActivities(db: Sql, scope: ActivityScope, ids: readonly number[], now: Date) {
  return db.query<ActivityRow>(FIND, { ...scopeParameters(scope), ids, now }, 'activities-by-id');
}

/** Visible children of some parents by id, at most `limit` of each; null for all. */
export async function listChildren(
  db: Sql,
  scope: ActivityScope,
  parents: readonly number[],
  limit: number | null,
  now: Date,
): Promise<Map<number, ChildRow[]>> {
  if (parents.length === 0) return new Map();
  const rows = await db.query<ChildRow>(
    CHILDREN,
    { ...scopeParameters(scope), parents, limit, now },
    'activity-children',
  );
  return Map.groupBy(rows, (row) => row.parent_id!);
}

/** Reads the base shape of an activity, as returned to its creator and written to the event log. */
export async function readBaseActivity(db: Sql, id: number, now: Date): Promise<BaseActivityRow> {
  const [row] = await db.query<BaseActivityRow>(READ_BASE, { id, now }, 'activity-base');
  return row!;
}

const base = (later = 'false', held = HELD) => `a.id, a.parent_id, a.type, a.summary, a.status, a.deliver_at,
    ${held} as held, ${later} as only_later, a.creation_time, a.approval_time, a.completion_time, p.id as creator_id,
    p.name as creator_name, p.email as creator_email, a.deliver_delay_window, a.result_text, a.result_code`;

const NOT_REVERTED = `case
      when a.reverts is null or a.computer_id is not null or a.parameters->'not_reverted' is null then null
      when :view::int[] is null then a.parameters->'not_reverted' else (
        select coalesce(jsonb_agg(e), '[]') from jsonb_array_elements(a.parameters->'not_reverted') e
        where (e->>'computer_id')::int in ${VISIBLE_COMPUTERS}) end`;

/** @param among - operator, ids of all groups */
export const detail = (among: string) => `${base(ONLY_LATER)}, a.computer_id, a.delivery_time, a.deliver_after_time,
    a.deliver_before_time, ${CANCEL_REQUESTED} as cancel_requested, a.schedule_before_time, a.schedule_after_time,
    a.modification_time, a.package_ids, a.changes, a.child_types, a.children_count, ${MANAGEABLE} as manageable,
    ${UNDOABLE} as undoable, ${RUNNABLE} as runnable, ${lostAmong(among)} as lost, a.reapplied_from,
    a.reapplied_by, a.reverts, a.reverted_by, a.after_activity_id, ${NOT_REVERTED} as not_reverted, a.progress`;

/** @param later - omitted for a run of a script profile, which has no window */
export const parentColumns = (later?: string) => `${base(later)}, ${CANCEL_REQUESTED} as cancel_requested,
    a.children_count, a.computer_count, a.open_count,
    a.succeeded_count, a.failed_count, a.canceled_count, case when a.computer_count = 1 then (
      select jsonb_build_object('id', k.computer_id, 'title', coalesce(c.title, r.title))
      from activity k left join computer c on c.id = k.computer_id left join removed_computer r on r.id = k.computer_id
      where k.parent_id = a.id order by k.id limit 1) end as computer`;

export const SOURCE = 'activity a left join person p on p.id = a.creator_id';

// The page is found in an index first; only its rows are read and joined.
const list = (columns: string, page: string) => `
  with page as materialized (${page})
  select ${columns}
  from page join ${SOURCE} on a.id = page.id
  order by a.id desc`;

const FIND = `
  select ${detail('= any(:ids::int[])')}
  from ${SOURCE} where ${VISIBLE_BY_KEY} and a.id = any(:ids::int[])`;
const READ_BASE = `select ${base()} from ${SOURCE} where a.id = :id`;

/** At most `:limit` visible children of each `parent(id)`. @param further - more columns of the activity `a` */
export const childrenOf = (parents: string, further = '') => `
  select page.*, coalesce(c.title, r.title) as computer_title
  from ${parents} as parent(id)
  cross join lateral (
    select ${base('false', OPERATION_HELD)}, a.computer_id, ${OPERATION_CANCEL_REQUESTED} as cancel_requested${further}
    from ${SOURCE} where a.parent_id = parent.id and ${VISIBLE_BY_KEY} order by a.id limit :limit) page
  left join computer c on c.id = page.computer_id left join removed_computer r on r.id = page.computer_id
  order by page.id`;
const CHILDREN = childrenOf('unnest(:parents::int[])');
