import type { PageRequest } from '../page.ts';
import { type ActivityScope, seenBy, VISIBLE } from '../query/activity-visibility.ts';
import type { Sql } from '../sql.ts';
import { PARENT, type ParentRow, SOURCE } from './activities.repository.ts';

/** Parents by id in no order; of those the caller may not see only what concerns no computer. */
export async function findParents(db: Sql, scope: ActivityScope, ids: readonly number[]): Promise<ParentRow[]> {
  return db.query<ParentRow & Record<string, unknown>>(FIND, [...seenBy(scope), ids]);
}

/** One page of the parents that runs of a script profile made, newest first, as {@link findParents} shows them. */
export async function listParentsOfScriptProfile(
  db: Sql,
  scope: ActivityScope,
  profileId: number,
  page: PageRequest,
): Promise<{ count: number; rows: ParentRow[] }> {
  const values = [...seenBy(scope), profileId];
  const [counted, rows] = await Promise.all([
    db.query<{ count: number }>(`select count(*)::int as count ${RUNS}`, values),
    db.query<ParentRow & Record<string, unknown>>(LIST, [...values, page.limit, page.offset]),
  ]);
  return { count: counted[0]!.count, rows };
}

// Who sees a profile sees that it had nothing to run on.
const SHOWN = `(${VISIBLE} or (a.account_id = $1 and a.children_count = 0 and a.computer_id is null))`;

const FIND = `select ${PARENT} from ${SOURCE} where ${SHOWN} and a.id = any($4::int[])`;

const RUNS = `from script_profile_run r join activity a on a.id = r.activity_id where r.profile_id = $4 and ${SHOWN}`;

const LIST = `
  select ${PARENT}
  from (select a.id ${RUNS} order by a.id desc limit $5 offset $6) page join ${SOURCE} on a.id = page.id
  order by a.id desc`;
