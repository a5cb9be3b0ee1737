import { parseActivityQuery } from '../../domain/query/activity-query.ts';
import type { ActivitySelection } from '../../persistence/query/activity-conditions.ts';
import { findPeopleByEmail } from '../../persistence/identity/logins.sql.ts';
import { NO_SEEN_SEARCHES, type QueryDeps, readSearches } from './computer-queries.ts';

/** Looks up saved searches of its computer queries. @throws {DomainError} InvalidQueryError, SavedSearchChanged */
export async function prepareActivityQuery(
  deps: QueryDeps,
  accountId: number,
  text: string,
  path = 'query.query',
  seen = NO_SEEN_SEARCHES,
): Promise<ActivitySelection> {
  const query = parseActivityQuery(text, path);
  const factors = query.clauses.flat();
  const parts = factors.flatMap(({ criterion, at }) =>
    criterion.kind === 'computer' ? [{ query: criterion.query, at }] : [],
  );
  const searches = await readSearches(deps, accountId, { text, path, seen, parts });
  const addresses = factors.flatMap(({ criterion }) => (criterion.kind === 'creator' ? [criterion.text] : []));
  const creators = addresses.length === 0 ? new Map() : await findPeopleByEmail(deps.db, addresses);
  return { query, searches, creators, now: deps.clock.now() };
}
