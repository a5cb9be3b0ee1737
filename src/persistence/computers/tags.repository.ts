import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

/** One page of the distinct tags of visible computers, in order, and the total number. @param groups - null for all */
export async function listTags(
  db: Sql,
  accountId: number,
  groups: readonly number[] | null,
  page: PageRequest,
): Promise<{ count: number; tags: string[] }> {
  const [row] = await db.query<{ count: number; tags: string[] }>(LIST, {
    accountId,
    groups,
    limit: page.limit,
    offset: page.offset,
  });
  return row!;
}

const LIST = `
  with tag as materialized (
    select distinct t.name from computer c cross join unnest(c.tags) as t(name)
    where c.account_id = :accountId and c.state = 'approved' and not c.archived
      and (:groups::int[] is null or c.access_group_id = any(:groups))
  )
  select (select count(*)::int from tag) as count,
    array(select name from tag order by name limit :limit offset :offset) as tags`;
