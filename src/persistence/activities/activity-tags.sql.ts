import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { statusList } from '../database/status-sql.ts';
import { type ActivityScope, scopeParameters, VISIBLE_BY_KEY } from '../query/activity-visibility.ts';
import { NOW } from '../query/compilation.ts';
import { type ActivityRow, type ChildRow, childrenOf, detail, SOURCE } from './activities.sql.ts';

/** What a response about one activity is made from, with its entity tag. */
interface TaggedActivity {
  row: ActivityRow;
  children: ChildRow[];
  tag: string;
}

type Digested = Row<'activity', 'open_count, delivered_count, succeeded_count, failed_count, canceled_count'> & {
  later: boolean;
  own: string;
};

type DigestedChild = Omit<ChildRow, 'computer_id'> & { computer_id: number | null; later: boolean; tag: string | null };

/** One activity with all visible children; null for none. */
export async function findTaggedActivity(
  db: Sql,
  scope: ActivityScope,
  id: number,
  now: Date,
): Promise<TaggedActivity | null> {
  const values = { ...scopeParameters(scope), ids: [id], now };
  const [row] = await db.query<ActivityRow & Digested>(FIND, values, 'activity-tagged');
  if (!row) return null;
  if (row.children_count === 0) return { row, children: [], tag: row.own };
  const children = await db.query<DigestedChild>(
    CHILDREN,
    { ...scopeParameters(scope), parents: [id], limit: null, now },
    'activity-children-tagged',
  );
  // A child is an operation, which has a computer.
  return { row, children: children as ChildRow[], tag: row.own + (children[0]?.tag ?? '') };
}

export interface ActivityState {
  id: number;
  parent_id: number | null;
  ended: boolean;
  /** Only the part of the group itself where that alone shows that no `known` tag is the present one. */
  tag: string;
}

/** Entity tags without the rows, in no order; invisible activities are left out. @param known - null: all tags complete */
export function readActivityStates(
  db: Sql,
  scope: ActivityScope,
  ids: readonly number[],
  known: readonly string[] | null,
  now: Date,
): Promise<ActivityState[]> {
  const parts = known && [...new Set(known.map((tag) => tag.slice(0, PART)))];
  return db.query<ActivityState>(
    STATES,
    { ...scopeParameters(scope), ids, limit: null, now, known: parts },
    'activity-states',
  );
}

/** Hexadecimal digits: a tag is 64 bits of a digest of the activity and, of a group, as many of one of its children. */
const PART = 16;
const digest = (text: string) => `left(md5(${text}), ${PART})`;

// The only thing that a response takes from the clock and not from a column.
const LATER = `(a.deliver_at > ${NOW}) is true as later`;

// A group's counters change with its children, whose rows then need not be read.
const SHOWN = `
  select ${detail('= any(:ids::int[])')}, ${LATER}, a.open_count, a.delivered_count, a.succeeded_count, a.failed_count,
    a.canceled_count
  from ${SOURCE} where ${VISIBLE_BY_KEY} and a.id = any(:ids::int[])`;

const FIND = `
  with shown as materialized (${SHOWN})
  select shown.*, ${digest('shown::text')} as own from shown`;

const CHILDREN = `
  with child as materialized (${childrenOf('unnest(:parents::int[])', `, ${LATER}`)})
  select child.*, case when row_number() over (order by id) = 1 then ${digest(`string_agg(child::text, '') over (
      order by id rows between unbounded preceding and unbounded following)`)} end as tag
  from child order by id`;

const STATES = `
  with shown as materialized (${SHOWN}), own as materialized (
    select id, parent_id, status, children_count, ${digest('shown::text')} as own from shown)
  select id, parent_id, status in ${statusList(FINAL_STATUSES)} as ended, own || case
      when children_count = 0 or own <> all(:known::text[]) then ''
      else (
        select coalesce(${digest(`string_agg(child::text, '' order by child.id)`)}, '')
        from (${childrenOf('(select own.id)', `, ${LATER}`)}) child) end as tag
  from own`;
