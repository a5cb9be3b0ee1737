import type { Sql } from '../sql.ts';

export interface SavedSearchRow {
  id: number;
  name: string;
  title: string;
  search: string;
}

/** The texts of saved searches by name; unknown names are left out. */
export async function findSearchTexts(
  sql: Sql,
  accountId: number,
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.query<{ name: string; search: string }>(
    'select name, search from saved_search where account_id = $1 and name = any($2::text[])',
    [accountId, names],
  );
  return new Map(rows.map(({ name, search }) => [name, search]));
}
