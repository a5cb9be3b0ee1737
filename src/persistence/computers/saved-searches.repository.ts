import { LockMode } from '@mikro-orm/core';
import { lockExclusive } from '../database/advisory-locks.ts';
import type { Paged, PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { SavedSearch } from './saved-search.entity.ts';

/** Saved searches of an account by name. */
export async function listSavedSearches(sql: Sql, account: number, page: PageRequest): Promise<Paged<SavedSearch>> {
  const [results, count] = await sql.em.findAndCount(SavedSearch, { account }, { ...page, orderBy: { name: 'asc' } });
  return { count, results };
}

/** The texts of saved searches by name; unknown names are left out. */
export async function findSearchTexts(sql: Sql, account: number, names: readonly string[]) {
  const rows = await sql.em
    .getKysely()
    .selectFrom('saved_search')
    .select(['name', 'search'])
    .where('account_id', '=', account)
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map(({ name, search }) => [name, search]));
}

/** Serializes new saved searches of an account, and changes of their titles, until the transaction ends. */
export async function lockSearchTitles(tx: Sql, accountId: number): Promise<void> {
  await lockExclusive(tx, 'searchTitles', accountId);
}

/** Whether another saved search than `name` has this title; exact under {@link lockSearchTitles}. */
export async function isSearchTitleTaken(tx: Sql, account: number, title: string, name: string): Promise<boolean> {
  return (await tx.em.count(SavedSearch, { account, title, name: { $ne: name } })) > 0;
}

/** The saved search of a name, locked until the transaction ends; null when there is none. */
export async function lockSavedSearch(tx: Sql, account: number, name: string): Promise<SavedSearch | null> {
  return tx.em.findOne(SavedSearch, { account, name }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** The caller holds {@link lockSearchTitles}. @returns null when the name is taken */
export async function insertSavedSearch(
  tx: Sql,
  account: number,
  content: Pick<SavedSearch, 'name' | 'title' | 'search' | 'creatorId'>,
): Promise<SavedSearch | null> {
  if ((await tx.em.count(SavedSearch, { account, name: content.name })) > 0) return null;
  const search = tx.em.create(SavedSearch, { account, ...content });
  await tx.em.flush();
  return search;
}

/** Changes the given fields of a locked saved search. */
export function changeSavedSearch(
  tx: Sql,
  search: SavedSearch,
  change: { title: string | undefined; search: string | undefined },
): void {
  tx.em.assign(search, change, { ignoreUndefined: true });
}

/** The transaction flushes it before its commit. */
export function deleteSavedSearch(tx: Sql, search: SavedSearch): void {
  tx.em.remove(search);
}
