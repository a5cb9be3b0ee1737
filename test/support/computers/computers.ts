import type { Sql } from '../../../src/persistence/database/sql.ts';

export interface ComputerSeed {
  accountId: number;
  title?: string;
  /** Name of an access group of the account. */
  group?: string;
  state?: 'pending' | 'approved';
  archived?: boolean;
  tags?: string[];
  parentId?: number;
  isWsl?: boolean;
  isDefaultChild?: boolean;
  hostagentUid?: string;
}

/** Stores one computer and returns its id. */
export async function insertComputer(sql: Sql, seed: ComputerSeed): Promise<number> {
  const title = seed.title ?? 'web-1';
  const rows = await sql.query<{ id: number }>(
    `insert into computer (account_id, access_group_id, state, archived, title, hostname, tags, parent_id, is_wsl,
       is_default_child, hostagent_uid, registered_at)
     select $1, g.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() from access_group g where g.account_id = $1 and g.name = $2
     returning id`,
    [
      seed.accountId,
      seed.group ?? 'global',
      seed.state ?? 'approved',
      seed.archived ?? false,
      title,
      `${title}.fleet.example`,
      seed.tags ?? [],
      seed.parentId ?? null,
      seed.isWsl ?? false,
      seed.isDefaultChild ?? null,
      seed.hostagentUid ?? null,
    ],
  );
  return rows[0]!.id;
}
