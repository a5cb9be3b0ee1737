import type { Sql } from '../database/sql.ts';

/** All activities, or those without a parent. */
export type Counted = 'activities' | 'parents';

/** Exact number of an account's activities of a kind, from counters that change in the same transaction as the rows. */
export async function countActivities(db: Sql, accountId: number, counted: Counted): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select coalesce(sum(${counted}), 0)::int as count from activity_block where account_id = $1`,
    [accountId],
  );
  return row!.count;
}

export interface ActivityBlock {
  account_id: number;
  block: number;
}

export async function blocksOf(tx: Sql, activities: readonly number[]): Promise<ActivityBlock[]> {
  return tx.query<ActivityBlock>(
    'select distinct account_id, id >> 12 as block from activity where id = any(:activities::int[])',
    { activities },
  );
}

/** Deletes empty blocks, except recent ones: rows being added to them may not be visible yet. Idempotent. */
export async function deleteEmptyBlocks(tx: Sql, blocks: readonly ActivityBlock[]): Promise<void> {
  await tx.query(DELETE_EMPTY, [blocks.map(({ account_id }) => account_id), blocks.map(({ block }) => block)]);
}

/** Blocks behind the newest activity that a transaction of any length could still be adding to. */
const RECENT_BLOCKS = 100;

const DELETE_EMPTY = `
  delete from activity_block b
  where b.block < (select max(id) >> 12 from activity) - ${RECENT_BLOCKS}
    and (b.account_id, b.block) in (
      select k.account_id, k.block from unnest($1::int[], $2::int[]) as requested(account_id, block)
      join activity_block k using (account_id, block)
      group by k.account_id, k.block having sum(k.activities) = 0)`;

/**
 * SQL of one page of ids, newest first: `$1` the account, `$2` the limit, `$3` the offset. Whole blocks are skipped by
 * their counts, so that at most one is scanned.
 */
export function blockPage(counted: Counted): string {
  return `
    with block as materialized (
      select block, sum(sum(${counted})) over (order by block desc) as through, sum(${counted}) as size
      from activity_block where account_id = $1 group by block
    ), start as materialized (
      select block, (through - size)::bigint as before from block where through > $3 order by block desc limit 1
    )
    select a.id from activity a
    where a.account_id = $1 ${counted === 'parents' ? 'and a.parent_id is null' : ''}
      and a.id < ((select block from start) + 1)::bigint * 4096
    order by a.id desc limit $2 offset greatest(0, $3 - (select before from start))`;
}
