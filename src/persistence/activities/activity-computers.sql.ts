import { EXECUTE_SCRIPT, SCRIPT_FAILURES } from '../../domain/scripts/result.ts';
import type { ActivityStatus } from '../../domain/activities/status.ts';
import type { Paged, PageRequest } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import { containing, type Sql } from '../database/sql.ts';
import { OPERATION_CANCEL_REQUESTED, OPERATION_HELD } from '../query/activity-fields.ts';
import {
  type ActivityScope,
  hasFullView,
  scopeParameters,
  VISIBLE_BY_KEY,
  VISIBLE_COMPUTERS,
} from '../query/activity-visibility.ts';
import { alertRule, LAST_HEARD } from '../query/alert-conditions.ts';
import { NOW } from '../query/compilation.ts';

/** Of an activity: what its computers are found by, and its life. */
export type StoryRow = Row<'activity', 'id, computer_id, children_count, creation_time, completion_time'>;

/** Which of the computers; null for all. */
export interface LineFilter {
  /** As it is shown. */
  status: ActivityStatus | null;
  /** Part of the computer's title. */
  computer: string | null;
  /** Part of the result. */
  result: string | null;
  /** Exactly one of {@link listFailures}. */
  failure: string | null;
}

export interface LineRow
  extends Row<
    'activity',
    `id, type, summary, status, deliver_at, creation_time, approval_time, delivery_time, completion_time, result_code,
     result_text, after_activity_id, blocked_by`
  > {
  /** Waits for room in the computer's queue. */
  held: boolean;
  computer_id: number;
  computer_title: string | null;
  cancel_requested: boolean;
  /** The last contact of a computer that is offline now. */
  offline_since: Date | null;
}

interface FailureRow {
  text: string;
  count: number;
}

/** An activity that the caller may see; null otherwise. */
export async function findStory(db: Sql, scope: ActivityScope, id: number): Promise<StoryRow | null> {
  const [row] = await db.query<StoryRow>(FIND, { ...scopeParameters(scope), id });
  return row ?? null;
}

/** One page of the operations of an activity that the caller may see, in the order of their ids, and their number. */
export async function listLines(
  db: Sql,
  scope: ActivityScope,
  story: StoryRow,
  { filter, page, now }: { filter: LineFilter; page: PageRequest; now: Date },
): Promise<Paged<LineRow>> {
  const { status, failure } = filter;
  const part = (text: string | null) => (text === null ? null : containing(text));
  const chosen = { status, computer: part(filter.computer), result: part(filter.result), failure };
  const values = { ...ownedBy(scope, story), ...chosen, now };
  const isWhole = hasFullView(scope) && Object.values(chosen).every((value) => value === null);
  const [count, results] = await Promise.all([
    isWhole ? Math.max(story.children_count, story.computer_id === null ? 0 : 1) : countLines(db, values),
    db.query<LineRow>(LINES, { ...values, ...page }),
  ]);
  return { count, results };
}

/** One page of the different texts of failures and how many operations each has, the most frequent first. */
export async function listFailures(
  db: Sql,
  scope: ActivityScope,
  story: StoryRow,
  page: PageRequest,
): Promise<Paged<FailureRow>> {
  const [row] = await db.query<Paged<FailureRow>>(FAILURES, { ...ownedBy(scope, story), ...page });
  return row!;
}

type LineValues = ReturnType<typeof ownedBy> & LineFilter & { now: Date };

async function countLines(db: Sql, values: LineValues): Promise<number> {
  const [row] = await db.query<{ count: number }>(COUNT, values);
  return row!.count;
}

/** Values of {@link OWN}. */
export function ownedBy(scope: ActivityScope, { id, computer_id }: StoryRow) {
  const isOperation = computer_id !== null;
  return { ...scopeParameters(scope), group: isOperation ? null : id, operation: isOperation ? id : null };
}

/** Operations `a` of an activity, or that operation, on computers that the caller may see. */
export const OWN = `a.account_id = :accountId and (a.parent_id = :group::int or a.id = :operation::int)
    and (:view::int[] is null or a.computer_id in ${VISIBLE_COMPUTERS})`;

const FIND = `select a.id, a.computer_id, a.children_count, a.creation_time, a.completion_time
  from activity a where ${VISIBLE_BY_KEY} and a.id = :id`;

// As `shownResult` in src/domain/scripts/result.ts.
const REASON = `case a.result_code ${Object.entries(SCRIPT_FAILURES)
  .map(([code, text]) => `when ${code} then '${text}'`)
  .join(' ')} end`;
const RESULT = `case when a.type = '${EXECUTE_SCRIPT}' then concat_ws(e'\\n', ${REASON}, nullif(a.result_text, ''))
    else coalesce(a.result_text, '') end`;

/** Longer texts that begin alike are one kind of failure. */
const FAILURE_LENGTH = 200;
const FAILURE = `left(${RESULT}, ${FAILURE_LENGTH})`;

// As `readStatus` in src/domain/activities/reading.ts.
const SHOWN_STATUS = `case when a.status <> 'undelivered' then a.status
      when a.deliver_at > ${NOW} then 'scheduled' when ${OPERATION_HELD} then 'waiting' else 'undelivered' end`;

const TITLED = `(select c.id from computer c where c.account_id = :accountId and lower(c.title) like lower(:computer::text)
      union all select r.id from removed_computer r
        where r.account_id = :accountId and lower(r.title) like lower(:computer::text))`;

const CHOSEN = `${OWN}
    and (:status::text is null or ${SHOWN_STATUS} = :status::text)
    and (:computer::text is null or a.computer_id in ${TITLED})
    and (:result::text is null or lower(${RESULT}) like lower(:result::text))
    and (:failure::text is null or (a.status = 'failed' and ${FAILURE} = :failure::text))`;

const COUNT = `select count(*)::int as count from activity a where ${CHOSEN}`;

const OFFLINE_FROM = alertRule('computer-offline').since;

/** Of a result, which may be the output of a script, a line shows this much. */
const SHOWN_LENGTH = 1000;

const LINES = `
  with page as materialized (select a.id from activity a where ${CHOSEN} order by a.id limit :limit offset :offset)
  select a.id, a.type, a.summary, a.status, a.deliver_at, ${OPERATION_HELD} as held, a.creation_time, a.approval_time,
    a.delivery_time, a.completion_time, a.result_code, left(a.result_text, ${SHOWN_LENGTH}) as result_text,
    a.after_activity_id, a.blocked_by, a.computer_id, coalesce(c.title, r.title) as computer_title,
    ${OPERATION_CANCEL_REQUESTED} as cancel_requested,
    case when ${OFFLINE_FROM} <= ${NOW} then ${LAST_HEARD} end as offline_since
  from page join activity a using (id)
  left join computer c on c.id = a.computer_id left join removed_computer r on r.id = a.computer_id
  left join computer_contact contact on contact.computer_id = c.id
  order by a.id`;

const FAILURES = `
  with failure as materialized (
    select ${FAILURE} as text, count(*)::int as count from activity a where ${OWN} and a.status = 'failed' group by 1
  )
  select (select count(*)::int from failure) as count, (
    select coalesce(jsonb_agg(f order by f.count desc, f.text), '[]')
    from (select * from failure order by count desc, text limit :limit offset :offset) f) as results`;
