import type { Sql } from '../database/sql.ts';
import { ONLY_LATER } from '../query/activity-fields.ts';
import { NOW } from '../query/compilation.ts';
import { type ActivityScope, scopeParameters, VISIBLE_BY_KEY } from '../query/activity-visibility.ts';
import { type ParentRow, parentColumns, SOURCE } from './activities.sql.ts';
import { COUNT, countVisible } from './activity-pages.sql.ts';

/** Parents by id, in no order; those invisible to the caller are left out. */
export async function findParents(db: Sql, scope: ActivityScope, ids: readonly number[], now: Date) {
  const rows = await db.query<ParentRow>(FIND, { ...scopeParameters(scope), ids, now });
  return countVisible(db, scope, rows);
}

/** The entity tag of one of {@link findParents}; empty for none. */
export async function readParentTag(db: Sql, scope: ActivityScope, id: number, now: Date): Promise<string> {
  const [row] = await db.query<{ tag: string }>(TAG, { ...scopeParameters(scope), ids: [id], parents: [id], now });
  return row?.tag ?? '';
}

const FIND = `select ${parentColumns(ONLY_LATER)} from ${SOURCE} where ${VISIBLE_BY_KEY} and a.id = any(:ids::int[])`;

const TAG = `
  with parent as materialized (${FIND})
  select md5(concat_ws('|', p::text, p.deliver_at > ${NOW}, case when :view::int[] is not null then (
    select c::text from (${COUNT}) c) end)) as tag
  from parent p`;
