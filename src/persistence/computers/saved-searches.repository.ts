import { lockExclusive } from '../database/advisory-locks.ts';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import type { Paged } from '../identity/administrators.repository.ts';

export interface SavedSearchRow {
  id: number;
  name: string;
  title: string;
  search: string;
  /** Null for those created before this was recorded. */
  creator_id: number | null;
}

const COLUMNS = 'id, name, title, search, creator_id';
const SELECT = `select ${COLUMNS} from saved_search where account_id = :accountId`;

/** Saved searches of an account by name. */
export async function listSavedSearches(
  sql: Sql,
  accountId: number,
  page: PageRequest,
): Promise<Paged<SavedSearchRow>> {
  const [results, counted] = await Promise.all([
    sql.query<SavedSearchRow & Record<string, unknown>>(`${SELECT} order by name limit :limit offset :offset`, {
      accountId,
      limit: page.limit,
      offset: page.offset,
    }),
    sql.query<{ count: number }>('select count(*)::int as count from saved_search where account_id = :accountId', {
      accountId,
    }),
  ]);
  return { count: counted[0]!.count, results };
}

/** The texts of saved searches by name; unknown names are left out. */
export async function findSearchTexts(
  sql: Sql,
  accountId: number,
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.query<{ name: string; search: string }>(
    'select name, search from saved_search where account_id = :accountId and name = any(:names::text[])',
    { accountId, names },
  );
  return new Map(rows.map(({ name, search }) => [name, search]));
}

/** Serializes changes of the account's saved search titles until the transaction ends. */
export async function lockSearchTitles(tx: Sql, accountId: number): Promise<void> {
  await lockExclusive(tx, 'searchTitles', accountId);
}

/** Whether another saved search than `name` has this title; exact under {@link lockSearchTitles}. */
export async function isSearchTitleTaken(tx: Sql, accountId: number, title: string, name: string): Promise<boolean> {
  const rows = await tx.query(
    'select from saved_search where account_id = :accountId and title = :title and name <> :name limit 1',
    { accountId, title, name },
  );
  return rows.length > 0;
}

/** The saved search of a name, locked until the transaction ends; null when there is none. */
export async function lockSavedSearch(tx: Sql, accountId: number, name: string): Promise<SavedSearchRow | null> {
  const rows = await tx.query<SavedSearchRow & Record<string, unknown>>(`${SELECT} and name = :name for update`, {
    accountId,
    name,
  });
  return rows[0] ?? null;
}

/** @returns the row, or null when the name is taken */
export async function insertSavedSearch(
  tx: Sql,
  accountId: number,
  { name, title, search, creator_id }: Omit<SavedSearchRow, 'id'>,
): Promise<SavedSearchRow | null> {
  const rows = await tx.query<SavedSearchRow & Record<string, unknown>>(
    `insert into saved_search (account_id, name, title, search, creator_id) values (:accountId, :name, :title, :search, :creator_id)
     on conflict (account_id, name) do nothing returning ${COLUMNS}`,
    { accountId, name, title, search, creator_id },
  );
  return rows[0] ?? null;
}

/** Changes the given fields. @returns the current row, or null when there is none of that name */
export async function updateSavedSearch(
  tx: Sql,
  accountId: number,
  name: string,
  { title, search }: { title: string | undefined; search: string | undefined },
): Promise<SavedSearchRow | null> {
  const rows = await tx.query<SavedSearchRow & Record<string, unknown>>(
    `update saved_search set title = coalesce(:title, title), search = coalesce(:search, search)
     where account_id = :accountId and name = :name returning ${COLUMNS}`,
    { accountId, name, title, search },
  );
  return rows[0] ?? null;
}

export async function deleteSavedSearch(tx: Sql, id: number): Promise<void> {
  await tx.query('delete from saved_search where id = :id', { id });
}
