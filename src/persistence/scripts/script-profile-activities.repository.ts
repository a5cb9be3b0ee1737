import { type ParentRow, parentAt, SOURCE } from '../activities/activities.repository.ts';
import { countSeen } from '../activities/seen-children.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { type ActivityScope, seenBy, VISIBLE } from '../query/activity-visibility.ts';

/** Parents by id in no order; those the caller may not see are left out. */
export async function findParents(
  db: Sql,
  scope: ActivityScope,
  ids: readonly number[],
  now: Date,
): Promise<ParentRow[]> {
  const rows = await db.query<ParentRow & Record<string, unknown>>(FIND, [...seenBy(scope), ids, now]);
  return countSeen(db, scope, rows);
}

/** One page of the parents that runs of a script profile made, newest first, as {@link findParents} shows them. */
export async function listParentsOfScriptProfile(
  db: Sql,
  scope: ActivityScope,
  profileId: number,
  page: PageRequest,
  now: Date,
): Promise<{ count: number; rows: ParentRow[] }> {
  const values = [...seenBy(scope), profileId];
  const [counted, rows] = await Promise.all([
    db.query<{ count: number }>(`select count(*)::int as count ${RUNS}`, values),
    db.query<ParentRow & Record<string, unknown>>(LIST, [...values, page.limit, page.offset, now]),
  ]);
  return { count: counted[0]!.count, rows: await countSeen(db, scope, rows) };
}

const FIND = `select ${parentAt(6)} from ${SOURCE} where ${VISIBLE} and a.id = any($5::int[])`;

const RUNS = `from script_profile_run r join activity a on a.id = r.activity_id where r.profile_id = $5 and ${VISIBLE}`;

const LIST = `
  select ${parentAt(8)}
  from (select a.id ${RUNS} order by a.id desc limit $6 offset $7) page join ${SOURCE} on a.id = page.id
  order by a.id desc`;
