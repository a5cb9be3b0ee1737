import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';

/**
 * One page of ids of the operations on some computers, which the caller may see, and of their groups, newest first, and
 * the total number.
 */
export async function listComputerActivities(
  db: Sql,
  accountId: number,
  computers: readonly number[],
  page: PageRequest,
): Promise<{ count: number; ids: number[] }> {
  const [row] = await db.query<{ count: number; ids: number[] }>(LIST, {
    accountId,
    computers,
    limit: page.limit,
    offset: page.offset,
  });
  return row!;
}

const LIST = `
  with own as (
    select id, parent_id from activity where account_id = :accountId and computer_id = any(:computers::int[])
  ), listed as (
    select id from own union select parent_id from own where parent_id is not null
  )
  select (select count(*)::int from listed) as count,
    array(select id from listed order by id desc limit :limit offset :offset) as ids`;
