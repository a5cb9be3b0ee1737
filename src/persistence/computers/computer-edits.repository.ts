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
    `update computer set title = coalesce($3, title), comment = coalesce($4, comment), tags = coalesce($5::text[], tags),
       access_group_id = coalesce($6, access_group_id)
     where account_id = $1 and id = $2 and state = 'approved' returning title`,
    [accountId, computerId, edit.title, edit.comment, edit.tags, edit.accessGroupId],
  );
  return rows[0] ?? null;
}

/** Current tags of a computer; none when there is no such computer. */
export async function findTags(tx: Sql, accountId: number, computerId: number): Promise<string[]> {
  const [row] = await tx.query<{ tags: string[] }>('select tags from computer where account_id = $1 and id = $2', [
    accountId,
    computerId,
  ]);
  return row?.tags ?? [];
}
