import type { Sql } from '../database/sql.ts';

export interface ComputerEdit {
  title?: string | undefined;
  comment?: string | undefined;
  tags?: readonly string[] | undefined;
  accessGroupId?: number | undefined;
}

/** Absent fields are unchanged. @returns null when there is no such computer */
export async function updateComputer(
  tx: Sql,
  accountId: number,
  computerId: number,
  edit: ComputerEdit,
): Promise<{ title: string } | null> {
  const rows = await tx.query<{ title: string }>(
    `update computer set title = coalesce(:title, title), comment = coalesce(:comment, comment), tags = coalesce(:tags::text[], tags),
       access_group_id = coalesce(:accessGroupId, access_group_id)
     where account_id = :accountId and id = :computerId and state = 'approved' returning title`,
    { ...edit, accountId, computerId },
  );
  return rows[0] ?? null;
}

/** Current tags of a computer; none when there is no such computer. */
export async function findTags(tx: Sql, accountId: number, computerId: number): Promise<string[]> {
  const [row] = await tx.query<{ tags: string[] }>(
    'select tags from computer where account_id = :accountId and id = :computerId',
    { accountId, computerId },
  );
  return row?.tags ?? [];
}
