import { DomainError } from '../../domain/common/errors.ts';
import { isSearchName, searchNameOf } from '../../domain/computers/saved-search-names.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { SavedSearch } from '../../persistence/computers/saved-search.entity.ts';
import {
  changeSavedSearch,
  deleteSavedSearch,
  insertSavedSearch,
  isSearchTitleTaken,
  listSavedSearches,
  lockSavedSearch,
  lockSearchTitles,
} from '../../persistence/computers/saved-searches.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { checkSearchText } from '../query/computer-queries.ts';
import { readLine, fieldError } from '../common/fields.ts';
import type { Caller } from '../common/ports.ts';

interface SavedSearchContent {
  name?: string | undefined;
  title?: string | undefined;
  search: string;
}

export type SavedSearchesService = ReturnType<typeof createSavedSearchesService>;

export function createSavedSearchesService({ db }: { db: Database }) {
  return {
    /** One page of the account's saved searches, by name. Visible to every administrator. */
    list: (caller: Caller, page: PageRequest) => listSavedSearches(db, caller.accountId, page),
    /** Derives a missing name or title. @throws InvalidParameter, InvalidQueryError, DuplicateSavedSearch */
    create(caller: Caller, content: SavedSearchContent) {
      const named = readNames(content);
      const search = readSearch(content.search);
      return db.transaction(async (tx) => {
        await lockSearchTitles(tx, caller.accountId);
        await requireFreeTitle(tx, caller, named);
        const row = await insertSavedSearch(tx, caller.accountId, { ...named, search, creatorId: caller.personId });
        if (!row) throw new DomainError('DuplicateSavedSearch', 'A saved search with this name already exists');
        await recordEvent(tx, caller, eventOf(row, `Saved the search ${row.title}`));
        return row;
      });
    },
    /** Idempotent. @throws as `remove`; InvalidParameter, InvalidQueryError, DuplicateSavedSearch */
    change(caller: Caller, name: string, { title, search }: Partial<SavedSearchContent>) {
      const change = {
        title: title === undefined ? undefined : readLine('body.title', title),
        search: search === undefined ? undefined : readSearch(search),
      };
      return db.transaction(async (tx) => {
        // Locked before the search is read, so that its title cannot change between read and comparison.
        if (change.title !== undefined) await lockSearchTitles(tx, caller.accountId);
        const row = await lockOwn(tx, caller, name);
        if (change.title !== undefined && change.title !== row.title) {
          await requireFreeTitle(tx, caller, { name, title: change.title });
        }
        changeSavedSearch(tx, row, change);
        await recordEvent(tx, caller, eventOf(row, `Changed the saved search ${row.title}`));
        return row;
      });
    },
    /** @throws {DomainError} UnknownSavedSearch, Forbidden unless the caller created it or has ManageAccount */
    remove: (caller: Caller, name: string) =>
      db.transaction(async (tx) => {
        const row = await lockOwn(tx, caller, name);
        deleteSavedSearch(tx, row);
        await recordEvent(tx, caller, eventOf(row, `Removed the saved search ${row.title}`));
      }),
  };
}

/** Others can only use it. */
export function mayChangeSearch(caller: Caller, { creatorId }: Pick<SavedSearch, 'creatorId'>): boolean {
  return creatorId === caller.personId || caller.may('ManageAccount');
}

async function lockOwn(tx: Sql, caller: Caller, name: string): Promise<SavedSearch> {
  const row = await lockSavedSearch(tx, caller.accountId, name);
  if (!row) throw new DomainError('UnknownSavedSearch', 'There is no such saved search');
  if (mayChangeSearch(caller, row)) return row;
  throw new DomainError(
    'Forbidden',
    'Another person created this saved search; the permission ManageAccount is needed',
  );
}

async function requireFreeTitle(tx: Sql, caller: Caller, { name, title }: { name: string; title: string }) {
  if (!(await isSearchTitleTaken(tx, caller.accountId, title, name))) return;
  throw new DomainError('DuplicateSavedSearch', 'A saved search with this title already exists');
}

function readNames({ name, title }: SavedSearchContent): { name: string; title: string } {
  if (name !== undefined && !isSearchName(name)) {
    throw fieldError('body.name', 'must have 1 to 255 lower-case letters, digits and dashes');
  }
  const line = title === undefined ? name : readLine('body.title', title);
  if (line === undefined) throw fieldError('body.title', 'is required where no name is given');
  const made = name ?? searchNameOf(line);
  if (made === null) throw fieldError('body.title', 'must have a letter or digit where no name is given');
  return { name: made, title: line };
}

function readSearch(search: string): string {
  const text = search.trim();
  if (text === '') throw fieldError('body.search', 'must not be empty');
  checkSearchText(text, 'body.search');
  return text;
}

function eventOf(row: SavedSearch, message: string) {
  return { entityType: 'SavedSearch' as const, entityId: row.id, entityName: row.name, message };
}
